// Work in parts, each a task of its own, so that none holds up the page. What is left of a round when the next one comes
// is dropped: the next one shows the same, newer.
export class Spread {
  constructor() { Object.assign(this, { jobs: [], timer: null }); }

  run(jobs) {
    this.jobs = [...jobs];
    this.timer ??= setTimeout(() => this.next());
  }

  next() {
    this.timer = null;
    const job = this.jobs.shift();
    // Before the job, which may fail and takes none of the others along.
    if (this.jobs.length) this.timer = setTimeout(() => this.next());
    job?.();
  }
}
