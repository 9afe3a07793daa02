/** The title of every question before something irreversible, and the button that does it. */
export const CONFIRMATION = { title: 'This cannot be undone', submit: 'Do it' } as const;
