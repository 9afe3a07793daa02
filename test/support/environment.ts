const { PATH = '', NODE_COMPILE_CACHE } = process.env;

/**
 * Of a process that a test starts: no key of the machine's owner and no server of theirs, so the built-in model answers.
 * It shares what Node has compiled; stripping the types of a program takes as long as starting it.
 */
export const ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH,
  USER: 'Ada',
  OLLAMA_HOST: 'http://127.0.0.1:9',
  ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }),
};
