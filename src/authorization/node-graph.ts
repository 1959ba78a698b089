import type { ApiObject } from '../api/api-object.ts';
import { type PersistentVolume, type Pod, type ReachableKind, claimKeyOf, nodeReferenceKey, podReferences, volumeSecrets } from './node-references.ts';

/**
 * Which nodes have to do with which objects (plugin/pkg/auth/authorizer/node/graph.go):
 *
 *     secret, configmap, claim, service account ← pod ← node
 *     secret ← persistent volume ← persistent volume claim ← pod ← node
 *     volume attachment, resource slice, certificate request ← node
 *
 * Kept as counts of the pods by which a node needs an object, so that a question costs a lookup however many pods there are; only a secret of volumes
 * asks for each of them. Fed object by object; undefined removes.
 */
export class NodeGraph {
  /** By object, then by node: how many pods lead there. */
  readonly #nodesOf = new Map<string, Map<string, number>>();
  /** By pod or other owner: its node and what it leads to, to be taken back. */
  readonly #links = new Map<string, { node: string; keys: readonly string[] }>();
  readonly #claimOfVolume = new Map<string, string>();
  readonly #secretsOfVolume = new Map<string, readonly string[]>();
  readonly #volumesOfSecret = new Map<string, Set<string>>();

  isRelated(node: string, kind: ReachableKind, namespace: string, name: string): boolean {
    if (kind === 'persistentvolume') return this.#isClaimedBy(node, name);
    const key = nodeReferenceKey(kind, namespace, name);
    if (this.#nodesOf.get(key)?.has(node)) return true;
    if (kind !== 'secret') return false;
    for (const volume of this.#volumesOfSecret.get(key) ?? []) if (this.#isClaimedBy(node, volume)) return true;
    return false;
  }

  setPod(namespace: string, name: string, pod: Pod | undefined): void {
    const own = nodeReferenceKey('pod', namespace, name);
    const node = pod?.spec?.nodeName ?? '';
    this.#relink(own, node, pod && node !== '' ? [own, ...podReferences(pod)] : []);
  }

  /** What says itself which node it is for. */
  setOwned(kind: ReachableKind, { metadata: { namespace = '', name = '' } }: ApiObject, node: string): void {
    const own = nodeReferenceKey(kind, namespace, name);
    this.#relink(own, node, node === '' ? [] : [own]);
  }

  setVolume(name: string, volume: PersistentVolume | undefined): void {
    for (const secret of this.#secretsOfVolume.get(name) ?? []) {
      const volumes = this.#volumesOfSecret.get(secret);
      volumes?.delete(name);
      if (volumes?.size === 0) this.#volumesOfSecret.delete(secret);
    }
    this.#secretsOfVolume.delete(name);
    this.#claimOfVolume.delete(name);
    const claim = volume && claimKeyOf(volume);
    if (claim === undefined) return;
    const secrets = volumeSecrets(volume!);
    this.#claimOfVolume.set(name, claim);
    this.#secretsOfVolume.set(name, secrets);
    for (const secret of secrets) {
      const volumes = this.#volumesOfSecret.get(secret);
      if (volumes) volumes.add(name);
      else this.#volumesOfSecret.set(secret, new Set([name]));
    }
  }

  #isClaimedBy(node: string, volume: string): boolean {
    const claim = this.#claimOfVolume.get(volume);
    return claim !== undefined && this.#nodesOf.get(claim)?.has(node) === true;
  }

  #relink(owner: string, node: string, keys: readonly string[]): void {
    const old = this.#links.get(owner);
    if (old) for (const key of old.keys) this.#unlink(key, old.node);
    if (keys.length === 0) {
      this.#links.delete(owner);
      return;
    }
    for (const key of keys) this.#link(key, node);
    this.#links.set(owner, { node, keys });
  }

  #link(key: string, node: string): void {
    let nodes = this.#nodesOf.get(key);
    if (!nodes) this.#nodesOf.set(key, (nodes = new Map()));
    nodes.set(node, (nodes.get(node) ?? 0) + 1);
  }

  #unlink(key: string, node: string): void {
    const nodes = this.#nodesOf.get(key);
    const count = nodes?.get(node) ?? 0;
    if (!nodes || count === 0) return;
    if (count > 1) nodes.set(node, count - 1);
    else nodes.delete(node);
    if (nodes.size === 0) this.#nodesOf.delete(key);
  }
}
