import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

/** Packs the package as it would be published, and checks its manifest and its types as every resolver sees them. */
const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'strata-pack-'));
try {
  const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: root });
  const tarball = join(folder, packed.toString().trim().split('\n').at(-1) ?? '');
  await checkManifest(tarball);
  const types = join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js');
  execFileSync(process.execPath, [types, tarball, '--profile', 'esm-only', '--quiet'], { stdio: 'inherit' });
} finally {
  rmSync(folder, { recursive: true });
}

async function checkManifest(tarball: string): Promise<void> {
  const { messages, pkg } = await publint({
    pack: { tarball: new Uint8Array(readFileSync(tarball)).buffer },
    strict: true,
  });
  for (const message of messages) process.stderr.write(`package.json: ${formatMessage(message, pkg)}\n`);
  if (messages.length > 0) process.exitCode = 1;
}
