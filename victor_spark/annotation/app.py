"""The HTTP interface of the annotation tool: routes, JSON shapes, and who may ask.

Words: a block is known by its number (0 … n_blocks-1, the server's segmentation); a label by its number
in `session.labels`. `labels` of a page is one string, a character a block: "2201…" (the base-36 digit of
the label's number). A page is known by its number. Times are ISO 8601 in UTC, durations seconds.

Pages and files (GET, text/html)
  /
      static/index.html; ?token=… sets the cookie (see below) and redirects to /
  /guidelines
      static/guidelines.html
  /static/NAME
      files of victor_spark/annotation/static
  /frame/PAGE
      the page for `<iframe sandbox="allow-scripts" src>`: every block is
      `<v-b id="vb-12" data-b="12">text</v-b>`; everything else is dead (see frame.py). Its only
      script is static/frame.js, its last style sheet static/frame.css, both inlined with a
      nonce. Its origin is opaque: it talks to its parent by postMessage only
      (`parent.postMessage(m, "*")`; check `event.source`), it can't reach this interface.
      ?plain=1 leaves out the page's own style sheets, style attributes and `hidden`.
      Elements: v-img (a picture; title = its alt), v-input, v-button, v-form, v-select,
      v-option, v-textarea, v-x (unknown tags), v-noscript; `body.v-plain` with ?plain=1.

JSON. Every answer is an object; errors have HTTP status ≥ 400 and
  {"error": {"code": "stale", "message": "words for people"}}
  codes: bad_request 400, unauthorized 401, forbidden 403, not_found 404, stale 409, too_large 413,
  unsupported 415, internal 500, store_busy 503 (try again), disk_full 507 (nothing was lost but this action; try again).

  GET  /api/session
      {"labels": [{"name": "header", "role": "header", "key": "1", "colour": "#b45309"}, …],
       "other": 2, "annotators": ["Anna"], "order": "uncertain", "overlap": 0.2, "n_pages": 120,
       "prelabelled": true, "model": "crf/victor-2 9f3a…" | null, "version": "0.1.0",
       "practice": [{"page": 3, "title": "…"}], "store": "annotations.sqlite"}
      role: what the label means in the export (header | text | other).
  POST /api/annotators
      {"name": "Anna"} → {"name": "Anna", "is_new": true}
      (1–40 characters, white space trimmed; first used names are made on the way)
  POST /api/next
      {"annotator": "Anna"} → a page state (below), its page claimed for her; when the queue is
      empty {"page": null, "message": "…"}. Her open page comes first (reload in the middle);
      "after": PAGE asks for another one than PAGE and leaves that one open.
  GET  /api/pages?annotator=Anna&offset=0&limit=100
      {"n_pages": 120, "pages": [{"page": 1, "title", "url", "host", "n_blocks",
       "state": "new" | "open" | "done" | "skipped", "n_done": 1, "wanted": 2,
       "uncertainty": 0.31, "seen": "2026-…" | null}]}   in the order of the queue
  GET  /api/history?annotator=Anna
      {"pages": [PAGE, …]} those she opened, the latest last (for "previous page")
  GET  /api/pages/PAGE?annotator=Anna[&judge=1]
      a page state; opening it makes her annotation if there is none
  Page state:
    {"page": 17, "frame": "/frame/17", "title": "…" | null, "url": "…" | null, "host": "…" | null,
     "language": "cs" | null, "n_blocks": 213, "labels": "2201…", "prelabels": "2201…" | null,
     "uncertain": [4, 7, …], "revision": 5, "can_undo": true, "can_redo": false, "state": "open", "active_seconds": 12.5,
     "annotator": "Anna", "judge": false, "practice": false, "note": "", "message": null | "words to show"}
  POST /api/pages/PAGE/actions
     {"annotator": "Anna", "revision": 5, "id": "unique word made by the browser", "kind": "label",
      "runs": [[first, last], …], "label": 1 [, "judge": true]}
     kinds: label (runs, label) · undo · redo · done · skip · reopen · note ("text") ·
     restore (back to the prelabels) · clear (all other). A sent-again id answers as the first time did and changes nothing.
     label, restore and clear can be undone. done and skip leave the labels; labelling a page that is done reopens it.
     → {"page": 17, "revision": 6, "changed": [[first, last, label], …], "can_undo": true, "can_redo": false,
        "state": "open", "active_seconds": 14.0}
     A revision that is not the store's: 409 {"error": {"code": "stale", …}, "state": page state now}.
  POST /api/pages/PAGE/active
      {"annotator": "Anna" [, "judge": true]} → {"active_seconds": 29.0}
      "she is working": send it every 15 s while there is input and the tab is visible; gaps
      over 60 s between any two requests about a page are no working time.
  POST /api/pages/PAGE/check {"annotator": "Anna"} → practice pages only:
      {"n_right": 40, "n_wrong": 2, "n_blocks": 42,
       "wrong": [{"block": 7, "given": 1, "gold": 2, "why": "…"}]}
  GET  /api/progress[?annotator=Anna]
      {"n_pages": 120, "n_done": 31, "n_annotations": 37, "n_wanted": 144,
       "annotators": [{"name": "Anna", "n_done": 20, "n_skipped": 1, "n_left": 12,
       "active_seconds": 610.0, "median_seconds": 14.2, "pages_per_hour": 221.0 | null,
       "pages_per_hour_recent": 240.0 | null, "n_actions": 130}]}
  GET  /api/agreement
      {"n_pages": 12, "n_blocks": 2400, "pairs": [{"annotators": ["Anna", "Ben"], "n_pages": 12,
       "n_blocks": 2400, "kappa": 0.91 | null, "agreement": 0.97}], "fleiss": 0.88 | null,
       "labels": […], "messages": ["…"]}
  GET  /api/disagreements
      {"pages": [{"page": 4, "title", "url", "annotators": ["Anna", "Ben"], "n_differing": 12,
       "n_blocks": 200, "kappa": 0.8 | null, "judged": "Carla" | null}]} worst first
  GET  /api/pages/PAGE/disagreement
      {"page": 4, "n_blocks": 200, "annotators": [{"name": "Anna", "labels": "22…"}],
       "majority": "22…", "differing": [[first, last], …], "judge": {"name", "labels"} | null}
      To judge: GET the page state with judge=1 (it starts from the majority) and send actions
      with "judge": true; done closes the case.

Who may ask: the Host header must name this server (no DNS rebinding); Origin, where sent, must be this
server; Sec-Fetch-Site must be same-origin or none (a top-level navigation to / may come from
anywhere); POST bodies are application/json, 1 MB at most. When the server is not on localhost: the cookie
`victor_token` (set by /?token=…, HttpOnly, SameSite=Strict) or `Authorization: Bearer TOKEN`.

Content-Security-Policy. Application: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'
data:; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none' — so
no inline script or style. Frame: sandbox allow-scripts; default-src 'none'; script-src 'nonce-…'; style-src 'unsafe-inline';
base-uri 'none'; form-action 'none'; frame-ancestors 'self'.
"""
