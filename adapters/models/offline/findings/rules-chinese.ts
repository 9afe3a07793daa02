import type { MemoryKind } from '../../../../src/adapter-kit.ts';
import { createRule, type Rule } from './rules.ts';

/** Ends at punctuation, because Chinese sentences continue over commas. */
const REST = '([^，。！？；,.!?;\\s][^，。！？；,.!?;]*)';

function rule(pattern: string, kind: MemoryKind, say: (rest: string, name: string) => string): Rule {
  const importance =
    { identity: 0.9, instruction: 0.9, decision: 0.85, todo: 0.7, preference: 0.7 }[String(kind)] ?? 0.75;
  const about = kind === 'decision' ? 'nobody' : 'speaker';
  const made = createRule(new RegExp(pattern + REST, 'u'), { kind, importance, about }, (match, { name }) =>
    say(match[1] ?? '', name),
  );
  return { ...made, stop: '。' };
}

export const rulesChinese: readonly Rule[] = [
  {
    ...createRule(
      /我(?:叫|的名字(?:是|叫))([\p{L}]{1,12})/u,
      { kind: 'identity', importance: 0.9 },
      (match, { calling }) => `${calling.replace(/'s?$/, '')}的名字是${match[1]}`,
    ),
    stop: '。',
  },
  rule(
    '(?:^|[，,])(?=(?:请)?(?:总是|一直|永远|以后|从现在起|千万不要|不要再))(?:请)?',
    'instruction',
    (found) => found,
  ),
  rule('我们(?:已经)?(?:决定|商定|同意)了?', 'decision', (found) => `已经决定：${found}`),
  rule('提醒我', 'todo', (found, name) => `${name}希望被提醒：${found}`),
  rule('我(?:需要|必须|得)(?!到)', 'todo', (found, name) => `${name}需要${found}`),
  rule('我(?:不喜欢|不爱)', 'preference', (found, name) => `${name}不喜欢${found}`),
  rule('我(?:很|最|非常)?讨厌', 'preference', (found, name) => `${name}讨厌${found}`),
  rule('我(?:也|很|最|更|非常|比较)?(?:喜欢|偏爱)', 'preference', (found, name) => `${name}喜欢${found}`),
  rule('我(?:也|很|最)?爱(?=[吃喝看听玩])', 'preference', (found, name) => `${name}爱${found}`),
  rule('我(?:现在)?住在', 'fact', (found, name) => `${name}住在${found}`),
  rule('我(?:搬到|搬去)了?', 'fact', (found, name) => `${name}搬到了${found}`),
  rule('我来自', 'fact', (found, name) => `${name}来自${found}`),
  rule('我(?=在[^，。]{1,20}(?:工作|上班))', 'fact', (found, name) => `${name}${found}`),
  rule('我的生日是', 'fact', (found, name) => `${name}的生日是${found}`),
  rule('我对(?=[^，。]{1,12}过敏)', 'fact', (found, name) => `${name}对${found}`),
  rule('我是(?:一[名个位])?(?=[^，。]{0,12}(?:师|员|生|人|家|者))', 'fact', (found, name) => `${name}是${found}`),
];
