// Splits work into separate tasks, so that none blocks the page. Remaining tasks are dropped when a newer round starts.
export class Spread {
  constructor() { Object.assign(this, { jobs: [], timer: null }); }

  run(jobs) {
    this.jobs = [...jobs];
    this.timer ??= setTimeout(() => this.next());
  }

  next() {
    this.timer = null;
    const job = this.jobs.shift();
    // Scheduled before the job, so that its failure does not stop the others.
    if (this.jobs.length) this.timer = setTimeout(() => this.next());
    job?.();
  }
}
