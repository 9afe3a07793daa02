import { ModelError } from '../../domain/errors.ts';
import { type CallContext, callModel } from './call.ts';
import { askWithTools } from './exchange.ts';
import { type Answered, type Question, readStep, requestOf, userText } from './question.ts';

/** Asks in a form the model supports: tools, else one JSON object, else plain text. */
export async function ask(context: CallContext, question: Question): Promise<Answered> {
  if (question.tools.length === 0) return await askPlainly(context, question);
  const { model, toolless, avoidsTools } = context;
  if (!model.traits.tools || toolless.has(model.id)) return await askForJson(context, question);
  const asked = avoidsTools ? await askForJson(context, question) : null;
  // The earlier failures may have been an outage, and a bare text has no memories.
  if (asked !== null && !isBare(asked)) return asked;
  try {
    return await askWithTools(context, question);
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    // The server answers without tools, so they are the cause.
    if (asked !== null) return asked;
    if (error.reason !== 'unsupported') throw error;
    toolless.add(model.id);
    return await askForJson(context, question);
  }
}

function isBare({ answer: { summary, candidates }, finish }: Answered): boolean {
  return finish === 'stop' && summary !== null && candidates.length === 0;
}

async function askPlainly(context: CallContext, question: Question): Promise<Answered> {
  const prompt = question.prompt(false);
  const step = await callModel(context, requestOf(question, prompt, { messages: [userText(question.transcript)] }));
  return { ...readStep(step, question), prompt };
}

async function askForJson(context: CallContext, question: Question): Promise<Answered> {
  const prompt = question.prompt(false);
  const messages = [userText(question.transcript)];
  const step = await callModel(context, { ...requestOf(question, prompt, { messages }), tools: [], json: true });
  return { ...readStep(step, question), prompt };
}
