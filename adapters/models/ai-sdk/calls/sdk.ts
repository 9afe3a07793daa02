import type { Log } from '../../../../src/adapter-kit.ts';
import type { ImageLoader } from './images.ts';

export type Sdk = Awaited<ReturnType<typeof load>>;

let loading: Promise<Sdk> | undefined;
/** The SDK has one place for warnings in each process. They go to the log of the model that was called last. */
let latestLog: Log | undefined;

/** Loading the SDK takes a tenth of a second and tens of megabytes, so it happens on the first call of a model. */
export function loadSdk(log: Log): Promise<Sdk> {
  latestLog = log;
  loading ??= load();
  return loading;
}

async function load() {
  const { streamText, tool, jsonSchema, Output, createDownload } = await import('ai');
  // Otherwise it prints warnings about providers to the console.
  globalThis.AI_SDK_LOG_WARNINGS = ({ warnings, model }) => {
    for (const warning of warnings)
      latestLog?.debug('Warning of the provider package', { model, remark: remarkOf(JSON.stringify(warning)) });
  };
  return { streamText, tool, jsonSchema, Output, loadImage: createImageLoader(createDownload) };
}

/** Without the reasoning that it may quote. */
function remarkOf(warning: string): string {
  const [told = '', quoted] = warning.split('reasoning part:', 2);
  return quoted === undefined ? told : `${told}reasoning part`;
}

const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
const IMAGE_TIMEOUT_MS = 10_000;

/** The SDK's download rejects private addresses and large files. */
function createImageLoader(createDownload: typeof import('ai').createDownload): ImageLoader {
  const download = createDownload({ maxBytes: MAX_IMAGE_BYTES });
  return async (url, signal) => {
    try {
      const limited = AbortSignal.any([signal, AbortSignal.timeout(IMAGE_TIMEOUT_MS)]);
      const { data, mediaType } = await download({ url, abortSignal: limited });
      return { base64: Buffer.from(data).toString('base64'), mediaType: mediaType ?? null };
    } catch {
      // A missing image is no reason to leave the message unanswered.
      return null;
    }
  };
}
