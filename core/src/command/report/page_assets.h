/* SPDX-License-Identifier: MIT */
/* The style sheet and the script of the page, as the build embeds them (core/embed.cmake). */
#pragma once

/** page/page.css and page/page.js; each ends with NUL. */
extern const char page_css[], page_js[];
/** "sha256-...", of their bytes. */
extern const char page_css_hash[], page_js_hash[];
