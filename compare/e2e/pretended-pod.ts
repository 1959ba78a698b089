import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '../../test/support/api-client.ts';
import type { Container, Pod } from '../../src/apis/facts/types/core-v1.ts';
import { type Running, startContainer } from './containers.ts';
import { mountVolumes } from './mounts.ts';

/** What all pods of this process need. */
export interface PodParts {
  api: ApiClient;
  /** Whom pods trust. */
  ca: Buffer;
  apiPort: string;
  /** The folder of programs that are really started, by the names of images. */
  programs: string;
  /** Volumes are kept here. */
  folder: string;
}

/** The addresses of pods: cluster.sh gives them to the loopback interface. */
const ADDRESSES = Array.from({ length: 240 }, (_, index) => `10.244.0.${10 + index}`);
let usedAddresses = 0;

/** Programs need a moment before they listen. */
const START_MS = 700;
const REMOVAL_MS = 300;
const RESTART_MS = 2_000;

const containersOf = ({ spec }: Pod): Container[] => spec.containers ?? [];

/** One pod on a pretended node: from its start to its removal, as its status tells. */
export class PretendedPod {
  readonly #parts: PodParts;
  readonly #containers = new Map<string, Running>();
  readonly #startTime = new Date().toISOString().replace(/\.\d+Z/, 'Z');
  readonly #address: string;
  #pod: Pod;
  #isStarted = false;
  #isRemoved = false;

  constructor(pod: Pod, parts: PodParts) {
    this.#pod = pod;
    this.#parts = parts;
    this.#address = pod.spec.hostNetwork ? '127.0.0.1' : ADDRESSES[usedAddresses++ % ADDRESSES.length]!;
  }

  /** Starts it, or takes in what has changed. */
  async follow(pod: Pod): Promise<void> {
    const isChanged = pod.metadata.generation !== this.#pod.metadata.generation;
    this.#pod = pod;
    if (!this.#isStarted) {
      this.#isStarted = true;
      for (const container of containersOf(pod)) await this.#start(container);
      if ([...this.#containers.values()].some(({ isProgram }) => isProgram)) await sleep(START_MS);
      await this.#report();
    } else if (isChanged && this.#containers.size === containersOf(pod).length) await this.#report();
  }

  /** Stops it, and lets the object go once. */
  async remove(): Promise<void> {
    if (this.#isRemoved) return;
    this.end();
    await sleep(REMOVAL_MS);
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0, preconditions: { uid: this.#pod.metadata.uid } };
    await this.#parts.api.send({ method: 'DELETE', path: this.#path, body });
  }

  end(): void {
    this.#isRemoved = true;
    for (const { stop } of this.#containers.values()) stop();
  }

  get #path(): string {
    return `/api/v1/namespaces/${this.#pod.metadata.namespace}/pods/${this.#pod.metadata.name}`;
  }

  async #start(container: Container): Promise<void> {
    await mountVolumes(this.#pod, container, this.#parts);
    if (!this.#isRemoved)
      this.#containers.set(
        container.name,
        startContainer(container, this.#parts, () => void this.#ended(container)),
      );
  }

  async #ended(container: Container): Promise<void> {
    if (this.#isRemoved) return;
    if (this.#pod.spec.restartPolicy !== 'Always') return this.#report();
    await sleep(RESTART_MS);
    if (!this.#isRemoved) await this.#start(container);
  }

  async #report(): Promise<void> {
    const { metadata, spec } = this.#pod;
    const containers = containersOf(this.#pod);
    const exitCodes = containers.map(({ name }) => this.#containers.get(name)?.exitCode);
    const isFailed = exitCodes.some((code) => code !== undefined && code !== 0);
    const isOver = spec.restartPolicy !== 'Always' && exitCodes.every((code) => code !== undefined) && (spec.restartPolicy === 'Never' || !isFailed);
    const condition = (type: string, isTrue: boolean) => ({ type, status: isTrue ? 'True' : 'False', lastTransitionTime: this.#startTime });
    const statusOf = ({ name, image }: Container, exitCode: number | undefined, isReady: boolean) => ({
      name,
      image,
      imageID: `${image}@sha256:0`,
      containerID: `containerd://${metadata.uid}-${name}`,
      restartCount: 0,
      ready: isReady,
      started: exitCode === undefined,
      state: exitCode === undefined ? { running: { startedAt: this.#startTime } } : { terminated: { exitCode, reason: exitCode ? 'Error' : 'Completed' } },
    });
    const status = {
      phase: isOver ? (isFailed ? 'Failed' : 'Succeeded') : 'Running',
      observedGeneration: metadata.generation,
      startTime: this.#startTime,
      hostIP: '127.0.0.1',
      hostIPs: [{ ip: '127.0.0.1' }],
      podIP: this.#address,
      podIPs: [{ ip: this.#address }],
      conditions: [
        condition('PodReadyToStartContainers', true),
        condition('Initialized', true),
        condition('Ready', !isOver && !spec.readinessGates?.length),
        condition('ContainersReady', !isOver),
      ],
      containerStatuses: containers.map((container, index) => statusOf(container, exitCodes[index], exitCodes[index] === undefined)),
      initContainerStatuses: spec.initContainers?.map((container) => statusOf(container, container.restartPolicy === 'Always' ? undefined : 0, true)),
    };
    const headers = { 'content-type': 'application/strategic-merge-patch+json' };
    await this.#parts.api.send({ method: 'PATCH', path: `${this.#path}/status`, headers, body: { metadata: { uid: metadata.uid }, status } });
  }
}
