import { builtExpressions } from '../support/expressions.ts';

/** Prints the expressions that modules build when they are loaded, which happens once in a process. */
process.stdout.write(JSON.stringify(await builtExpressions()), () => process.exit());
