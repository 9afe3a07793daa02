import fc from 'fast-check';

// Set by vitest.config.ts.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env['TEST_SEED']) });
