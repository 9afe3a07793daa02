import type { Voice } from './voice.ts';

export const chinese: Voice = {
  greetings: ['你好！', '您好，很高兴见到你。'],
  thanks: ['不客气。', '很乐意。'],
  farewells: ['再见！下次我还会记得。'],
  wellbeing: ['我很好，谢谢。你呢？'],
  fillers: ['好的。', '明白了。'],
  noted: [(said) => `记下了：${said}`, (said) => `知道了：${said}`],
  promised: [(said) => `明白，以后：${said}`],
  decided: [(said) => `已记为决定：${said}`],
  reminded: [(said) => `已列入待办。我不能主动提醒你，请到时问我：${said}`],
  heard: ['明白了，请继续。', '谢谢你告诉我。'],
  unknown: ['我只是内置的演示模型，只知道这次对话的内容。'],
  introduction: '我是内置的演示模型。我不会思考，但记忆是真的：我只根据这里说过的话来回答。',
  abilities:
    '告诉我一些事情（比如“我喜欢喝茶”），以后再问我。/status 显示窗口用了多少，/memory list 显示我记住了什么。',
  welcome: (name) => `很高兴认识你，${name}。`,
  fromMemory: (text, when) => `${text}这是我记住的${when === '' ? '' : `（${when}）`}。`,
  fromSummary: (text, range) => `${text}这来自我对消息 ${range.replace(' to ', ' 到 ')} 的摘要。`,
  fromInstruction: (text, author) => `${author === '' ? '' : `${author}的`}长期要求：${text}`,
  fromMessage: (text, { author, when, byAsker }) =>
    `${byAsker ? '你' : author || '有人'}${when === '' ? '之前' : `在 ${when} `}说过：“${text}”`,
  fromSelf: (text) => `我之前说过：“${text}”`,
  fromTool: (text) => `工具告诉我：${text}`,
  also: (text) => `还有：${text}`,
  nothingFound: (searched) =>
    searched === 'all' ? '我查看了这里说过的所有话，没有找到相关内容。' : '在对话、摘要和记忆里，我没有看到相关内容。',
  toolGave: (tool, text) => `${tool} 的结果：${text}`,
  toolFailed: (tool, text) => `${tool} 没有成功：${text}`,
  saved: (text) => `已保存：${text}`,
  notSaved: (reason) => `没有保存：${reason}`,
  timeIs: (now) => `现在是 ${now}。`,
  nameIs: (name) => `你是${name}。`,
  knownAbout: (items) => `关于你，我知道：\n${items.map((item) => `- ${item}`).join('\n')}`,
  talkedAbout: (items) => `到目前为止：\n${items.map((item) => `- ${item}`).join('\n')}`,
};
