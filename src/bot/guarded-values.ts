import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { AgentDirectory } from '../config/directory.ts';
import { CODE_SOURCE } from '../config/given.ts';
import { type AgentSettings, agentSchema } from '../config/schema.ts';
import { StrataError } from '../domain/errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { PromptLibrary } from '../prompts/variables.ts';
import { kindOf } from '../util/errors/kind-of.ts';

/** Parts of a program that return something else than their types say: the error names the part, not a field of it. */

/** Throws `CONFIG_INVALID` for an agent without all its settings. Fields that Strata does not know are left alone. */
export function guardedDirectory(directory: AgentDirectory): AgentDirectory {
  const checked = new WeakSet<AgentSettings>();
  const check = (agent: AgentSettings, call: string): AgentSettings => {
    if (checked.has(agent)) return agent;
    const faults = (agentSchema.safeParse(agent).error?.issues ?? []).filter(
      ({ code }) => code !== 'unrecognized_keys',
    );
    if (faults.length > 0) throw incomplete(agent, call, faults);
    checked.add(agent);
    return agent;
  };
  return {
    agentFor: (conversation) => check(directory.agentFor(conversation), 'agentFor'),
    agent(id) {
      const agent = directory.agent(id) ?? null;
      return agent === null ? null : check(agent, 'agent');
    },
    list() {
      const agents = directory.list();
      if (!Array.isArray(agents)) throw invalid(`list returned ${kindOf(agents)}; expected a list of agents`);
      for (const agent of agents) check(agent, 'list');
      return agents;
    },
  };
}

function incomplete(agent: unknown, call: string, faults: readonly z.core.$ZodIssue[]): StrataError {
  const expected = 'expected an agent with every setting';
  const [first] = faults;
  if (first === undefined || first.path.length === 0) return invalid(`${call} returned ${kindOf(agent)}; ${expected}`);
  return invalid(`${call} returned an agent whose ${first.path.join('.')} cannot be used; ${expected}`);
}

function invalid(problem: string): StrataError {
  return new StrataError('CONFIG_INVALID', { file: CODE_SOURCE, problems: [`${CODE_SOURCE}: agents: ${problem}`] });
}

/** Throws `PROMPT_INVALID` for a prompt that is not a text. */
export function guardedPrompts(prompts: PromptLibrary): PromptLibrary {
  return {
    render(name, variables, from) {
      const rendered = prompts.render(name, variables, from);
      if (renderedShape.safeParse(rendered).success) return rendered;
      throw noText({ name, method: 'render', expected: 'an object with text and hash' }, rendered);
    },
    keep(name, from) {
      const kept = prompts.keep(name, from);
      if (typeof kept === 'string') return kept;
      throw noText({ name, method: 'keep', expected: 'a text' }, kept);
    },
    renderKept(name, variables, kept) {
      const text = prompts.renderKept(name, variables, kept);
      if (typeof text === 'string') return text;
      throw noText({ name, method: 'renderKept', expected: 'a text' }, text);
    },
  };
}

const renderedShape = z.object({ text: z.string(), hash: z.string() });

function noText(
  { name, method, expected }: { readonly name: string; readonly method: string; readonly expected: string },
  value: unknown,
): StrataError {
  const problem = `the option prompts of createBot returned ${kindOf(value)} from ${method}; expected ${expected}`;
  return new StrataError('PROMPT_INVALID', { file: name, problem });
}

const SHORTEST_SLEEP_MS = 100;

/**
 * A sleep that ends at once would let loops that wait for the time spin, and nothing else would run. It takes at least a
 * moment; or one turn of the event loop if the clock's own time has passed. Stores take only whole milliseconds.
 */
export function guardedClock(clock: Clock, log: Log): Clock {
  let isReported = false;
  return {
    now: () => Math.floor(clock.now()),
    async sleep(ms, { signal }) {
      const wakeAt = clock.now() + ms;
      let isLater = false;
      const turn = setImmediate(() => {
        isLater = true;
      });
      turn.unref();
      await clock.sleep(ms, { signal });
      if (isLater || ms <= 0) return;
      if (clock.now() >= wakeAt) return await pause(0, undefined, { signal, ref: false });
      if (!isReported)
        log.warn('clock.failed', { error: 'sleep ended at once; expected it to take as many milliseconds as given' });
      isReported = true;
      await pause(Math.min(ms, SHORTEST_SLEEP_MS), undefined, { signal, ref: false });
    },
  };
}
