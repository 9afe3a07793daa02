import { passageTimes } from '../passage-times.ts';

/** Measures searches for passages in this process and sends the times to the process that started it. */

const [directory = '', rounds] = process.argv.slice(2);

process.send?.(await passageTimes(directory, Number(rounds)));
process.disconnect?.();
