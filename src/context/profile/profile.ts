import { isDeepStrictEqual } from 'node:util';
import { modelsOf } from '../../config/directory.ts';
import type { AgentSettings } from '../../config/schema.ts';
import { platformOf, TERMINAL_HOME } from '../../domain/key.ts';
import type { ContextProfile } from '../../ports/engine.ts';
import type { ChatModel, ModelTraits, ToolSpec } from '../../ports/model.ts';
import type { SystemSection } from '../../ports/sections.ts';
import type { Conversation } from '../../ports/store.ts';
import { type PromptName, type PromptVariables, promptSourceOf } from '../../prompts/variables.ts';
import type { Services } from '../../services.ts';
import { saysSomething } from '../view/sections.ts';
import { ownSections } from './own-sections.ts';
import { limitsOf } from './shares.ts';
import { createBeyondWarnings } from './window-beyond.ts';

/** The window of a model that reports none, if the configuration sets none either. */
export const DEFAULT_WINDOW_TOKENS = 128_000;

type Place = Pick<Conversation, 'key' | 'audience'>;

type Facts = Pick<ChatModel, 'id' | 'traits'>;

const HOME: Place = { key: TERMINAL_HOME, audience: 'dm' };
const UNKNOWN_MODEL: Facts = { id: 'unknown', traits: { windowTokens: null, tools: true, images: false } };

export interface ProfilesOptions {
  readonly services: Services;
  /** The specifications of the named tools. */
  readonly tools: { specs(names: readonly string[]): readonly ToolSpec[] };
  /** The standing instructions of the place, which no summary replaces. Null if there are none. */
  readonly instructions?: (place: Place, agent: AgentSettings) => Promise<SystemSection | null>;
}

/** Resolves the agents' settings for the context of a conversation. */
export interface Profiles {
  /** Returns the same object until something it depends on changes. Throws the errors of opening the model. */
  of(place: Place): Promise<ContextProfile>;
  /**
   * The profile of an agent in a direct message, without instructions. `isOffline` opens no model: null if only the
   * model knows the window.
   */
  ofAgent(agent: AgentSettings, options: { readonly isOffline: boolean }): Promise<ContextProfile | null>;
  modelFor(profile: ContextProfile): Promise<ChatModel>;
  /** The model and its fallbacks, in the order in which they are tried. */
  modelsFor(profile: ContextProfile): Promise<readonly ChatModel[]>;
}

export function createProfiles({ services, tools, instructions }: ProfilesOptions): Profiles {
  const profiles = new WeakMap<AgentSettings, Map<string, Promise<Known>>>();
  const openModel = createModelOpener(services);
  const warnBeyond = createBeyondWarnings(services);
  const partsOf = (agent: AgentSettings, place: Place, models: readonly Facts[]) => {
    const names = models.some(({ traits }) => traits.tools) ? agent.tools : [];
    const specs = [...tools.specs(names)].sort((a, b) => (a.name < b.name ? -1 : 1));
    return { sections: sectionsOf(services, agent, { place, names }), tools: specs };
  };
  const build = async (agent: AgentSettings, place: Place): Promise<Known> => {
    const [first, ...others] = modelsOf(agent);
    const models = await Promise.all([openModel(first), ...others.map(openModel)]);
    warnBeyond(agent, models);
    const profile = profileOf(agent, models, partsOf(agent, place, models));
    return { profile, withInstructions: null, models, traits: models.map(({ traits }) => traits) };
  };
  const knownFor = async (agent: AgentSettings, place: Place): Promise<Known> => {
    const ofAgent = profiles.get(agent) ?? new Map<string, Promise<Known>>();
    profiles.set(agent, ofAgent);
    const id = `${platformOf(place.key)} ${place.audience}`;
    const made = kept(ofAgent, id, () => build(agent, place));
    const known = await made;
    if (!hasChanged(known)) return known;
    if (ofAgent.get(id) === made) ofAgent.delete(id);
    return await kept(ofAgent, id, () => build(agent, place));
  };
  return {
    async of(place) {
      const agent = services.agents.agentFor(place.key);
      const [known, section] = await Promise.all([knownFor(agent, place), instructions?.(place, agent) ?? null]);
      return section === null ? known.profile : withSection(known, section);
    },
    async ofAgent(agent, { isOffline }) {
      if (!isOffline) return (await knownFor(agent, HOME)).profile;
      if (agent.context_window === 'auto') return null;
      return profileOf(agent, [UNKNOWN_MODEL], partsOf(agent, HOME, [UNKNOWN_MODEL]));
    },
    modelFor: (profile) => openModel(profile.modelId),
    modelsFor: ({ modelId, fallbackIds = [] }) => Promise.all([modelId, ...fallbackIds].map(openModel)),
  };
}

interface Known {
  readonly profile: ContextProfile;
  /** The last variant with instructions. Instructions change rarely, and rendered parts are cached by profile. */
  withInstructions: { readonly section: SystemSection; readonly profile: ContextProfile } | null;
  readonly models: readonly ChatModel[];
  /** What the models could do when the profile was made. */
  readonly traits: readonly ModelTraits[];
}

/** A refused call can tell that a model has no tools, or how large its window is. */
function hasChanged({ models, traits }: Known): boolean {
  return models.some(
    (model, index) => model.traits !== traits[index] && !isDeepStrictEqual(model.traits, traits[index]),
  );
}

/** Inserts the section before the guidance, so that people's instructions follow the operator's text. */
function withSection(known: Known, section: SystemSection): ContextProfile {
  const last = known.withInstructions;
  if (last !== null && isDeepStrictEqual(last.section, section)) return last.profile;
  const { sections } = known.profile;
  const at = sections.findIndex(({ key }) => key === 'guidance');
  const profile = { ...known.profile, sections: sections.toSpliced(at < 0 ? sections.length : at, 0, section) };
  known.withInstructions = { section, profile };
  return profile;
}

/** Opens each model once and resolves `auto` once. Failures are retried. */
function createModelOpener(services: Services): (modelId: string) => Promise<ChatModel> {
  const open = new Map<string, Promise<ChatModel>>();
  return (modelId) => kept(open, modelId, () => openModel(services, modelId));
}

/** Creates a value once. Failures are not cached: the key may be set or the server up by the next turn. */
function kept<Value>(cache: Map<string, Promise<Value>>, id: string, make: () => Promise<Value>): Promise<Value> {
  const known = cache.get(id);
  if (known !== undefined) return known;
  const made = make();
  cache.set(id, made);
  made.catch(() => cache.delete(id));
  return made;
}

async function openModel(services: Services, modelId: string): Promise<ChatModel> {
  if (modelId !== 'auto') return await services.models.open(modelId);
  const choice = await services.models.choose();
  return await services.models.open(choice.modelId);
}

function profileOf(
  agent: AgentSettings,
  [model, ...fallbacks]: readonly [Facts, ...Facts[]],
  parts: Pick<ContextProfile, 'sections' | 'tools'>,
): ContextProfile {
  // The fallbacks must fit what was measured for the first model.
  const windows = [model, ...fallbacks].map(({ traits }) => traits.windowTokens ?? DEFAULT_WINDOW_TOKENS);
  const told = Math.min(...windows);
  const tools = [model, ...fallbacks].every(({ traits }) => traits.tools);
  return {
    agentId: agent.id,
    modelId: model.id,
    ...(fallbacks.length === 0 ? {} : { fallbackIds: fallbacks.map(({ id }) => id) }),
    traits: fallbacks.length === 0 ? model.traits : { ...model.traits, windowTokens: told, tools },
    ...limitsOf(agent, told),
    timeZone: agent.timezone,
    ...parts,
  };
}

function sectionsOf(
  services: Services,
  agent: AgentSettings,
  { place, names }: { readonly place: Place; readonly names: readonly string[] },
): readonly SystemSection[] {
  const from = promptSourceOf(agent);
  const render = <Name extends PromptName>(name: Name, variables: PromptVariables<Name>) =>
    services.prompts.render(name, variables, from).text;
  const sections: readonly SystemSection[] = [
    {
      key: 'persona',
      text: agent.persona === '' ? render('persona', { agentId: agent.id }) : agent.persona,
      priority: 100,
      protected: true,
      source: agent.persona === '' ? 'prompt persona' : 'configuration',
      reason: 'who the bot is',
    },
    {
      key: 'policy',
      text: agent.policy,
      priority: 98,
      protected: true,
      source: 'configuration',
      reason: 'what the bot must and must not do',
    },
    ...ownSections(agent),
    {
      key: 'guidance',
      text: guidanceText(services, agent, names),
      priority: 80,
      protected: false,
      source: 'prompt guidance',
      reason: 'how to read the context',
    },
    {
      key: 'place',
      text: render('place', { platform: platformOf(place.key), audience: place.audience }),
      priority: 70,
      protected: false,
      source: 'prompt place',
      reason: 'where the conversation takes place',
    },
  ];
  return sections.filter(saysSomething);
}

/** How to read the context, with the names of these tools. */
export function guidanceText(
  { prompts }: Pick<Services, 'prompts'>,
  agent: AgentSettings,
  tools: readonly string[],
): string {
  const hasMemory = agent.memory.recall_limit > 0 || tools.includes('memory_recall');
  return prompts.render('guidance', { tools: [...tools], hasMemory }, promptSourceOf(agent)).text;
}
