import fc from 'fast-check';

fc.configureGlobal({
  ...fc.readConfigureGlobal(),
  // Set by vitest.config.ts.
  seed: Number(process.env['TEST_SEED']),
  // Otherwise no text or list gets much longer than ten, whatever its `maxLength`.
  defaultSizeToMaxWhenMaxSpecified: true,
});
