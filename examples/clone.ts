// Lets the examples run inside a clone: `stratabot` then resolves to the sources of the clone. In a project that has installed
// the package you don't need it.
import { resolveOwnPackage } from '../src/plugins/own-package.ts';

resolveOwnPackage();
