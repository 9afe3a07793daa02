import { z } from 'zod';
import { measureTurns } from '../turns.ts';

/** Measures turns in this process and sends the times to the process that started it. */

const workSchema = z.object({ conversations: z.number(), blocks: z.number(), windowTokens: z.number().nullable() });

process.send?.(await measureTurns(workSchema.parse(JSON.parse(process.argv[2] ?? ''))));
process.disconnect?.();
