import { describe, expect, it } from 'vitest';
import type { SummaryId } from '../../../src/domain/message.ts';
import { boostOf, focusOf, repliedToSection } from '../../../src/memory/recall/focus.ts';
import { talk, user } from '../../fixtures/context.ts';
import { createPlace } from '../../fixtures/place.ts';

const focus = (text: string) => focusOf(user(1, text));
const about = (text: string, kind: 'fact' | 'todo' | 'decision' = 'fact', subjectId: string | null = null) => ({
  text,
  kind,
  subjectId,
});

describe('the focus of a message', () => {
  // Shows: A9
  it('finds what is quoted, in backticks, or written as names', () => {
    expect(focus('Did `npm run check` pass for Strata? He said "blue whale" to Ada.').names).toEqual([
      'npm run check',
      'blue whale',
      'strata',
      'ada',
    ]);
    expect(focus('Спроси, пожалуйста, Олега про «Север».').names).toEqual(['север', 'олега']);
    expect(focus('《红楼梦》你看完了吗？').names).toEqual(['红楼梦']);
    expect(focus('see src.context.plan and planCut').names).toEqual(['src.context.plan', 'plancut']);
  });

  it('takes no first word of a sentence for a name', () => {
    expect(focus('Yes. Tomorrow then! Fine').names).toEqual([]);
  });

  // Shows: A10
  it('knows what is asked for, in more than one language', () => {
    expect([...focus('Do you remember what we decided?').intents]).toEqual(['question', 'recall', 'decide']);
    expect([...focus('你记得上次的决定吗？').intents]).toEqual(['question', 'recall', 'decide']);
    expect([...focus('Напомни мне завтра').intents]).toContain('remind');
    expect([...focus('weiter bitte').intents]).toEqual(['continue']);
    expect([...focus('ok').intents]).toEqual([]);
  });

  it('holds the speaker and those who are mentioned', () => {
    const entry = user(1, 'hi', { mentions: [{ id: 'u9', name: 'Bob', kind: 'person' }] });
    expect([...focusOf(entry).people]).toEqual(['u1', 'u9']);
  });
});

describe('the boost of a memory', () => {
  it('grows with people, names and intent up to a cap', () => {
    expect(boostOf(focus('hello there'), about('Ada likes tea'))).toBe(0);
    expect(boostOf(focus('hello there'), about('likes tea', 'fact', 'u1'))).toBe(6);
    const mention = user(1, 'hello there', { mentions: [{ id: 'u9', name: 'Bob', kind: 'person' }] });
    expect(boostOf(focusOf(mention), about('likes tea', 'fact', 'u9'))).toBe(8);
    expect(boostOf(focus('what about 《红楼梦》'), about('小王喜欢红楼梦'))).toBe(4);
    expect(boostOf(focus('remind me'), about('send the report', 'todo'))).toBe(4);
    expect(
      boostOf(focus('please remember "tea", "milk", "honey" and "rum"'), about('tea milk honey rum', 'fact', 'u1')),
    ).toBe(12);
  });
});

describe('the message that is replied to', () => {
  async function covered() {
    const place = await createPlace();
    const { conversation } = await place.tell(talk(10));
    const gap = { id: 'g' as SummaryId, conversationId: conversation.id, expectedCompactedUpto: 0, toSeq: 10, now: 1 };
    await place.services.store.summaries.openGap(gap);
    return { place, snapshot: await place.snapshot() };
  }

  it('is quoted word for word when a layer covers it', async () => {
    const { place, snapshot } = await covered();
    await using services = place;
    const section = await repliedToSection(services.services, {
      snapshot,
      newest: user(20, 'this one', { replyTo: 'm3' }),
    });
    expect(section?.text).toBe(
      '[The newest message replies to #3 | 2026-11-20 Fri 10:03 | Ada]\n  Question 2: what do you think of the plan that we made last week?',
    );
    expect(section?.source).toBe('transcript #3');
  });

  it('is omitted when present, unknown, removed or before a reset', async () => {
    const { place, snapshot } = await covered();
    await using opened = place;
    const { services } = opened;
    const look = (replyTo: string | null, seen = snapshot) =>
      repliedToSection(services, { snapshot: seen, newest: user(20, 'this', { replyTo }) });
    expect(await look(null)).toBeNull();
    expect(await look('m13')).toBeNull();
    expect(await look('nowhere')).toBeNull();
    expect(await look('m3', { ...snapshot, conversation: { ...snapshot.conversation, contextFrom: 11 } })).toBeNull();
    await services.store.transcript.redact(snapshot.conversation.id, { externalIds: ['m3'], now: 2 });
    expect(await look('m3')).toBeNull();
  });
});
