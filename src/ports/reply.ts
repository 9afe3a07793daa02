export const TONES = ['info', 'success', 'error'] as const;
export type Tone = (typeof TONES)[number];

/** The answer of a command, independent of any platform. Terminal, Discord and Slack render it. All text is plain. */
export interface CommandReply {
  readonly title: string;
  readonly text: string;
  readonly fields: readonly ReplyField[];
  readonly rows: ReplyRows | null;
  readonly page: ReplyPage | null;
  readonly actions: readonly ReplyAction[];
  /** Attached as a file if the platform supports it. */
  readonly file: ReplyFile | null;
  /** Attached where the platform shows pictures; elsewhere its description stands for it. Default: none. */
  readonly picture?: ReplyPicture | null;
  /** Visible only to the person who asked, if the platform supports it. */
  readonly ephemeral: boolean;
  readonly tone: Tone;
}

export interface ReplyFile {
  readonly name: string;
  readonly text: string;
}

export interface ReplyPicture {
  readonly name: string;
  readonly mediaType: 'image/png';
  readonly base64: string;
  /** The same in words. */
  readonly description: string;
}

export interface ReplyField {
  readonly name: string;
  readonly value: string;
}

export interface ReplyRows {
  readonly columns: readonly string[];
  readonly cells: readonly (readonly string[])[];
}

/** `previous` and `next` are the commands that show the adjacent pages. */
export interface ReplyPage {
  readonly number: number;
  readonly of: number;
  readonly previous: ReplyCommand | null;
  readonly next: ReplyCommand | null;
}

/** A button: its label, and the command that it runs for the person who asked. */
export interface ReplyAction {
  readonly label: string;
  readonly command: ReplyCommand;
  readonly style: 'plain' | 'danger';
}

/** A command to run, as a button or a form names it. */
export interface ReplyCommand {
  readonly path: readonly string[];
  readonly options: Readonly<Record<string, string>>;
}
