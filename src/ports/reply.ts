/** What a command answers, in no platform's terms. Terminal, Discord and Slack render it. All text is plain. */
export interface CommandReply {
  readonly title: string;
  readonly text: string;
  readonly fields: readonly ReplyField[];
  readonly rows: ReplyRows | null;
  readonly page: ReplyPage | null;
  readonly actions: readonly ReplyAction[];
  /** Sent along as a file where the platform can. */
  readonly file: ReplyFile | null;
  /** For the asking person only, where the platform can. */
  readonly ephemeral: boolean;
  readonly tone: 'info' | 'success' | 'error';
}

export interface ReplyFile {
  readonly name: string;
  readonly text: string;
}

export interface ReplyField {
  readonly name: string;
  readonly value: string;
}

export interface ReplyRows {
  readonly columns: readonly string[];
  readonly cells: readonly (readonly string[])[];
}

/** `previous` and `next` are the command lines that show the neighbouring pages. */
export interface ReplyPage {
  readonly number: number;
  readonly of: number;
  readonly previous: ReplyCommand | null;
  readonly next: ReplyCommand | null;
}

/** A button: what it says and the command it runs for the person who asked. */
export interface ReplyAction {
  readonly label: string;
  readonly command: ReplyCommand;
  readonly style: 'plain' | 'danger';
}

export interface ReplyCommand {
  readonly path: readonly string[];
  readonly options: Readonly<Record<string, string>>;
}
