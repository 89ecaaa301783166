// Receives frames of a run over a websocket. Frames are complete, so a reconnect misses nothing. Reconnects after 0.5,
// 1, 2, 4 and then every 8 seconds, until the run has ended.
const ENDED = ["done", "failed", "cancelled"];
const NORMAL = 1000, NOT_LOGGED_IN = 4401, UNKNOWN_RUN = 4404;
const LONGEST_MS = 8000;

export function follow(run, tell, show) {
  let tries = 0;
  let lost = null;
  let state = "";

  function connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/ws/runs/${run}/`);
    socket.addEventListener("message", ({ data }) => {
      const frame = JSON.parse(data);
      state = frame.state || state;
      tell(lost ? "Reconnected. The page is up to date." : "", true);
      lost = null;
      tries = 0;
      show(frame);
    });
    socket.addEventListener("close", ({ code }) => {
      if (code === NORMAL && ENDED.includes(state)) return;
      if (code === NOT_LOGGED_IN) { tell("You are logged out. Reload the page to log in.", false); return; }
      if (code === UNKNOWN_RUN) { tell("This run was deleted.", false); return; }
      lost ??= new Date();
      tell(`Not connected since ${lost.toLocaleTimeString()}; reconnecting. The run continues, and the page will catch up.`, false);
      setTimeout(connect, Math.min(500 * 2 ** tries++, LONGEST_MS));
    });
  }
  connect();
}
