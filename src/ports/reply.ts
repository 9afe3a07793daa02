/** Whether a reply informs, confirms a change, or warns of something, such as a failure. Channels may choose a color by it. */
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
  /** Attached where the platform shows pictures; elsewhere its description replaces it. Default: none. */
  readonly picture?: ReplyPicture | null;
  /** Visible only to the person who asked, if the platform supports it. */
  readonly ephemeral: boolean;
  readonly tone: Tone;
}

/** A text file. The name includes the extension. */
export interface ReplyFile {
  readonly name: string;
  readonly text: string;
}

/** A picture for platforms that show one. */
export interface ReplyPicture {
  readonly name: string;
  readonly mediaType: 'image/png';
  readonly base64: string;
  /** The same in words. */
  readonly description: string;
}

/** A labelled value, such as "Model" and its id. */
export interface ReplyField {
  readonly name: string;
  readonly value: string;
}

/** A table. Each row has a cell for each column. */
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
