import type { MergedAgent } from './agents.ts';
import type { Report } from './report.ts';
import type { Sections } from './sections.ts';

/** A model that orders earlier messages needs the address of its server. */
export function checkRerankers(agents: readonly MergedAgent[], providers: Sections['providers'], report: Report): void {
  for (const { settings, originOf, index } of agents) {
    const model = settings.recall.rerank_model;
    const name = model.slice(0, model.indexOf(':'));
    if (model === '' || (providers[name]?.base_url ?? '') !== '') continue;
    const path = [...(index === null ? ['defaults'] : ['agents', index]), 'recall', 'rerank_model'];
    const text = `"${model}" needs the address of its server: set base_url in [providers.${name}]`;
    report.addAt(originOf(['recall', 'rerank_model']), { path, text });
  }
}
