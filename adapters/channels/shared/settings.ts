import { z } from 'zod';

/** Settings that mean the same on every platform. */

/** In the table `catch_up`. */
export const catchUpSettings = {
  messages: z
    .int()
    .min(0)
    .max(5000)
    .default(200)
    .describe('Maximum number of missed messages read per conversation; 0 reads none'),
  hours: z.number().positive().default(72).describe('How far back to read missed messages'),
  answer_minutes: z.number().min(0).default(30).describe('Missed messages older than this are stored but not answered'),
};

export const textKilobytes = z
  .number()
  .min(0)
  .max(1000)
  .default(64)
  .describe('Text files up to this size are read; 0 reads none');
