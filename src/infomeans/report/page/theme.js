// Before anything is drawn: light or dark, as the reader chose last or as the system says.
(function () {
  "use strict";
  var kept = null;
  try { kept = localStorage.getItem("infomeans:theme"); } catch (error) { /* not allowed here */ }
  var dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = kept || (dark ? "dark" : "light");
})();
