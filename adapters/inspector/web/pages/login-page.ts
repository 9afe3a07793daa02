import { html, type Markup } from '../markup/html.ts';
import { shell } from './layout.ts';

interface Login {
  readonly hasPassword: boolean;
  readonly failed: boolean;
  /** Where to go afterwards. */
  readonly to: string;
}

export function loginPage({ hasPassword, failed, to }: Login): Markup {
  const form = html`<form method="post" action="/login" class="stacked"><input type="hidden" name="to" value="${to}">
    <label for="password">Password</label>
    <input id="password" name="password" type="password" autocomplete="current-password" required autofocus>
    <button class="primary">Sign in</button></form>`;
  const body = html`<main id="main" class="narrow"><h1>Strata inspector</h1>
    ${failed ? html`<p class="trouble" role="alert">This password is wrong, or there were too many attempts. Try again in a minute.</p>` : ''}
    ${hasPassword ? form : ''}
    <p>Open the address that <code>strata start</code> or <code>strata inspect</code> prints. It contains a key that is valid until the process ends.</p></main>`;
  return shell('Sign in', body);
}

/** Leads on to a page of this site. */
export function entrancePage(to: string): Markup {
  const body = html`<main id="main" class="narrow"><h1>Strata inspector</h1><p><a href="${to}">Continue</a></p></main>`;
  return shell('Welcome', body, html`<meta http-equiv="refresh" content="0; url=${to}">`);
}
