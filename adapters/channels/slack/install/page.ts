/** A page for the installing person: a heading, a sentence, at most one link. */
export interface Page {
  readonly title: string;
  readonly text: string;
  readonly link?: { readonly label: string; readonly url: string };
}

export function pageHtml({ title, text, link }: Page): string {
  const anchor = link === undefined ? '' : `<p><a href="${escapeHtml(link.url)}">${escapeHtml(link.label)}</a></p>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>${escapeHtml(title)}</title>
<style>body { font-family: sans-serif; margin: 4rem auto; max-width: 32rem; padding: 0 1rem }</style>
</head>
<body>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(text)}</p>
${anchor}
</body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
