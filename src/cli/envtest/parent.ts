const INTERVAL_MS = 500;

/**
 * Tells this process to stop (SIGTERM) when the one that started it is gone: a test that was killed cannot stop what it has started. The answer ends this.
 */
export function stopWithParent(): () => void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent && isRunning(parent)) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** On Windows the number of the parent stays what it was. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
