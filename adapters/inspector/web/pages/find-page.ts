import { counted, excerpt, type Findings } from '../../../../src/adapter-kit.ts';
import { conversationPath, html, type Markup, when, withParameters } from '../markup/html.ts';
import { emptyState } from './layout.ts';

const SHOWN_LENGTH = 240;

export function findBody(text: string, { conversations, messages, memories, searched, next }: Findings): Markup {
  if (text.trim() === '') {
    return emptyState(
      'Nothing to search for yet',
      html`Type a part of a conversation's name, or words of a message or a memory.`,
    );
  }
  const isEmpty = conversations.length + messages.length + memories.length === 0;
  return html`<h1>Search: ${excerpt(text, 60)}</h1>
    <p class="dim">Messages and memories of ${counted(searched, 'conversation', 'conversations')} that you may read, newest activity first${next === null ? '; there are no others' : ''}.</p>
    ${isEmpty ? emptyState('Nothing was found', html`Try fewer words, or open the conversation and search there.`) : ''}
    ${conversations.length === 0 ? '' : html`<h2>Conversations</h2><ul class="found">${conversations.map((key) => html`<li data-row><a href="${conversationPath(key)}">${key}</a></li>`)}</ul>`}
    ${messages.length === 0 ? '' : html`<h2>Messages</h2><ul class="found">${messages.map(({ conversation, seq, at, who, text: said }) => html`<li data-row><a href="${withParameters(conversationPath(conversation), { at: seq })}">#${seq}</a> <b>${who}</b> <span class="dim">${conversation} · ${when(at)}</span><p>${excerpt(said, SHOWN_LENGTH)}</p></li>`)}</ul>`}
    ${memories.length === 0 ? '' : html`<h2>Memories</h2><ul class="found">${memories.map(({ conversation, id, text: said }) => html`<li data-row><span class="dim">${conversation}</span><p><a href="${conversationPath(conversation, `/m/${id}`)}">${excerpt(said, SHOWN_LENGTH)}</a></p></li>`)}</ul>`}
    ${next === null ? '' : html`<p class="pages"><a rel="next" href="${withParameters('/find', { q: text, after: next.afterId, named: next.named })}">Search older conversations →</a></p>`}`;
}
