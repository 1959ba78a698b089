// LMDB's package within the bundle: its JavaScript, for which Node would look through eleven files, is loaded with the rest, from V8's code cache.
// Its native code stays in its own package, where npm installs what fits the machine; so both must be of one version (package.json names it exactly).

const LMDB = /^lmdb$/;
/** What finds the native code, as `node-gyp-build` does. */
const LOADER = /^node-gyp-build-optional-packages$/;
/** They encode and cache values, if asked to; ours are bytes, and nothing of them is called. */
const UNUSED = /^(msgpackr|weak-lru-cache)$/;

/** Of which there is something in the bundle. */
export const LMDB_PACKAGES = ['lmdb', '@harperfast/extended-iterable', 'ordered-binary'];

export const bundledLmdb = {
  name: 'bundled-lmdb',
  setup({ onResolve, onLoad, resolve }) {
    const namespace = 'bundled-lmdb';
    // As CommonJS, which is one file.
    onResolve({ filter: LMDB }, ({ resolveDir, pluginData }) =>
      pluginData === namespace ? undefined : resolve('lmdb', { resolveDir, kind: 'require-call', pluginData: namespace }),
    );
    onResolve({ filter: LOADER }, () => ({ path: 'loader', namespace }));
    onResolve({ filter: UNUSED }, () => ({ path: 'unused', namespace }));
    onLoad({ filter: /^loader$/, namespace }, () => ({ contents: LOADER_CODE }));
    onLoad({ filter: /^unused$/, namespace }, () => ({ contents: 'module.exports = {};' }));
  },
};

/**
 * The files of the usual platforms by their names, where the machine's libc is GNU's (the loader reads ldd, too); all others the way that the package itself
 * finds them.
 */
const LOADER_CODE = `
const { readFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { dirname, join } = require('node:path');
const requireFromHere = createRequire(__filename);

module.exports = function loadNativeCode() {
  const lmdb = requireFromHere.resolve('lmdb');
  const requireFromLmdb = createRequire(lmdb);
  return loadUsual(requireFromLmdb) ?? requireFromLmdb('node-gyp-build-optional-packages')(join(dirname(lmdb), '..'));
};

function loadUsual(requireFromLmdb) {
  try {
    if (process.platform !== 'linux' || process.versions.bun || process.versions.deno || !readFileSync('/usr/bin/ldd', 'latin1').includes('GNU C Library')) return undefined;
    return requireFromLmdb('@lmdb/lmdb-linux-' + process.arch + '/node.abi' + process.versions.modules + '.glibc.node');
  } catch {
    return undefined;
  }
}
`;
