import { readFileSync } from 'node:fs';
import * as vscode from 'vscode';
import type { EditorSecrets } from '../../gateway/editorSecrets.ts';
import type { GatewayLink } from '../../gateway/gatewayLink.ts';
import type { Observable } from '../../observable.ts';
import type { GatewayView } from '../../status/health.ts';
import type { ScannedServer } from '../../trust/findings.ts';
import { ConfigurationCompletions } from './completions.ts';
import { ConfigurationDocuments, SELECTOR } from './configurationDocuments.ts';
import { ConfigurationDiagnostics } from './diagnostics.ts';
import { ConfigurationHovers } from './hovers.ts';
import { ConfigurationLenses } from './lenses.ts';
import { ConfigurationFixes } from './quickFixes.ts';

export interface LanguageParts {
  /** Name of the folder's gateway. */
  folder: string;
  /** Whether this gateway shows what concerns files outside of its folder, which others read too. */
  isFirstServed(): boolean;
  gateway: Observable<GatewayView>;
  scanned: Observable<readonly ScannedServer[]>;
  link: GatewayLink;
  secrets: EditorSecrets;
  /** `docs/editor/problems.md` of the extension. */
  page: vscode.Uri;
}

/** Sources of hovers and completions. */
export interface LanguageSources {
  documents: ConfigurationDocuments;
  link: Pick<GatewayLink, 'request'>;
  secrets: EditorSecrets;
}

/** Shows in waygate.json what the gateway knows about it: problems, lines above servers, hovers, names and fixes. */
export function configurationLanguage(parts: LanguageParts): vscode.Disposable {
  const { gateway, link, secrets, page } = parts;
  const documents = new ConfigurationDocuments(parts);
  const diagnostics = new ConfigurationDiagnostics(parts, {
    page,
    text: readFileSync(page.fsPath, 'utf8'),
  });
  const sources: LanguageSources = { documents, link, secrets };
  return vscode.Disposable.from(
    diagnostics,
    new ConfigurationLenses(documents, gateway),
    vscode.languages.registerHoverProvider(SELECTOR, new ConfigurationHovers(sources)),
    vscode.languages.registerCompletionItemProvider(SELECTOR, new ConfigurationCompletions(sources), ':', '"'),
    new ConfigurationFixes(documents, diagnostics).register(),
  );
}
