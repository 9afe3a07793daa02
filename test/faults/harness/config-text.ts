export interface ConfigTextOptions {
  readonly directory: string;
  /** URLs; empty for parts inside the process. */
  readonly storage: string;
  readonly queue: string;
  readonly model: string;
  readonly windowTokens: number;
}

/** A config.toml as an operator would write it: a small window, short time limits, so that minutes show what weeks would. */
export function configText({ directory, storage, queue, model, windowTokens }: ConfigTextOptions): string {
  return `
[defaults]
model = "town:chat"
context_window = ${windowTokens}
max_output_tokens = 300
timeout_seconds = 2
mode = "mention"
persona = "You are a bot."
tools = ["transcript_search"]
[defaults.compaction]
background_threshold = 0.5
aggressive_threshold = 0.6
emergency_threshold = 0.9
stack_share = 0.06
timeout_seconds = 2
idle_minutes = 0.05
[storage]
directory = ${JSON.stringify(directory)}
url = ${JSON.stringify(storage)}
[queue]
url = ${JSON.stringify(queue)}
[log]
level = "warn"
[providers.town]
base_url = ${JSON.stringify(model)}
[channels.scripted]
`;
}
