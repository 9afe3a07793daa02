import { writeFileSync } from 'node:fs';
import { builtExpressions, CACHE, KNOWN, merge, superLinear, writtenExpressions } from '../test/support/expressions.ts';

/** Lists the expressions of the sources that were found safe, so that the tests on other machines need not analyse them. */
const expressions = merge([
  ...writtenExpressions().flatMap((found) => found.expressions),
  ...(await builtExpressions()),
]);
const faults = await superLinear(expressions, CACHE);
if (faults.length > 0) throw new Error(faults.join('\n'));
const list = expressions.map(({ source, flags }) => `/${source}/${flags}`).toSorted();
writeFileSync(KNOWN, `${JSON.stringify(list, null, 2)}\n`);
// The checker leaves a process running.
process.exit();
