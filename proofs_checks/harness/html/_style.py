"""The style sheet of the report: no fonts and no images from anywhere, light and dark, screen and paper."""

__all__ = ["CSS"]

CSS = """
:root{color-scheme:light dark;
 --paper:#fcfbf8;--card:#ffffff;--ink:#22272b;--soft:#5b646b;--line:#e3e0d8;--tint:#f4f2ec;--link:#1c5f7a;
 --good:#1d6b43;--good-bg:#e7f1ea;--bad:#9d2b22;--bad-bg:#f9e9e6;--news:#7a4b00;--news-bg:#faf0dc;--calm:#4f5b66;
 --calm-bg:#eceff1}
@media (prefers-color-scheme:dark){:root{
 --paper:#15181b;--card:#1b1f23;--ink:#dfe3e6;--soft:#9aa5ad;--line:#2f363c;--tint:#20252a;--link:#86c5de;
 --good:#86cfa4;--good-bg:#1a3226;--bad:#f0a199;--bad-bg:#3d211e;--news:#e8bf73;--news-bg:#382c16;--calm:#b3bec7;
 --calm-bg:#2a3137}}
*{box-sizing:border-box}
html{scroll-padding-top:1rem;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);
 font:16px/1.55 system-ui,-apple-system,"Segoe UI","Noto Sans",sans-serif}
main{max-width:58rem;margin:0 auto;padding:2rem 1.25rem 5rem;overflow-wrap:break-word}
h1,h2,h3{font-family:"Iowan Old Style","Palatino Linotype",Palatino,"Noto Serif",Georgia,serif;font-weight:600;
 line-height:1.25;
 text-wrap:balance;margin:0}
h1{font-size:2rem;letter-spacing:-.01em}h2{font-size:1.5rem}h3{font-size:1.18rem}
h4{font-size:.8rem;font-weight:600;letter-spacing:.02em;color:var(--soft);margin:1.3rem 0 .4rem}
p{margin:.5rem 0}a{color:var(--link);text-underline-offset:.15em;text-decoration-thickness:1px}
code,.mono{font:.86em/1.5 ui-monospace,"SF Mono","Cascadia Mono","Noto Sans Mono","DejaVu Sans Mono",monospace}
math{font-family:"Latin Modern Math","STIX Two Math","Cambria Math","Noto Sans Math",math;font-size:1.08em}
.soft{color:var(--soft)}.small{font-size:.88rem}.lead{font-size:1.05rem;color:var(--soft);max-width:44rem}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.75rem;margin:1.5rem 0 0;padding:0;
 list-style:none}
.tiles li{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.8rem .95rem}
.tiles b{display:block;font-size:1.45rem;font-weight:600;line-height:1.2;font-variant-numeric:tabular-nums}
.tiles span{font-size:.84rem;color:var(--soft)}
.front>section,.front>nav{margin-top:2.6rem}
.toc ol{columns:2 20rem;column-gap:2rem;padding-left:1.3rem;margin:.6rem 0 0}.toc li{break-inside:avoid;
 padding:.12rem 0}
.note-box{border-left:3px solid var(--line);padding:.15rem 0 .15rem .9rem;margin:1rem 0}
.note-box.bad{border-color:var(--bad);background:var(--bad-bg);padding:.6rem .9rem;border-radius:0 .4rem .4rem 0}
.note-box.news{border-color:var(--news)}
.findings{list-style:none;padding:0;margin:.8rem 0 0}
.findings li{background:var(--card);border:1px solid var(--line);border-left:3px solid var(--news);
 border-radius:.4rem;
 padding:.8rem 1rem;margin:.7rem 0;break-inside:avoid}
.findings li.bad{border-left-color:var(--bad)}
.findings p{margin:.3rem 0 0}
.tag{display:inline-block;font-size:.76rem;font-weight:600;line-height:1.5;padding:.05rem .5rem;border-radius:1rem;
 color:var(--calm);background:var(--calm-bg)}
td .tag{white-space:nowrap}
.tag.good{color:var(--good);background:var(--good-bg)}.tag.bad{color:var(--bad);background:var(--bad-bg)}
.tag.news{color:var(--news);background:var(--news-bg)}
.scroll{overflow-x:auto;margin:.5rem -1.25rem;padding:0 1.25rem;scrollbar-width:thin}
table{border-collapse:collapse;width:100%;font-size:.88rem;font-variant-numeric:tabular-nums}
th,td{text-align:left;vertical-align:top;padding:.45rem .7rem .45rem 0;border-bottom:1px solid var(--line)}
thead th{font-weight:600;color:var(--soft);font-size:.8rem;border-bottom:1px solid var(--soft);vertical-align:bottom}
tbody th{font-weight:500}td.num,th.num{text-align:right}
.all{min-width:46rem}
tr.group th{padding-top:1.1rem;color:var(--soft);font-weight:600;border-bottom-color:var(--soft)}
.paper{margin-top:4.5rem;padding-top:2rem;border-top:1px solid var(--line)}
.paper>header p{margin:.35rem 0}
figure{margin:1.6rem 0;padding:1rem;background:#fff;border:1px solid var(--line);border-radius:.6rem;overflow-x:auto;
 color:#222}
figure svg{display:block;width:100%;min-width:34rem;height:auto;margin:0 auto}
@media (prefers-color-scheme:dark){figure{filter:brightness(.88)}}
.nofigure{color:var(--soft);font-size:.88rem}
.claim{background:var(--card);border:1px solid var(--line);border-radius:.7rem;padding:1.3rem 1.25rem 1.1rem;
 margin:1.5rem 0}
.claim>header{display:flex;flex-wrap:wrap;gap:.3rem .8rem;align-items:baseline;justify-content:space-between}
.claim>header code{color:var(--soft)}
.statement{font-size:1.05rem;line-height:2.1;margin:.8rem 0 .4rem;overflow:auto hidden;padding:.3rem 0}
.tex{overflow-wrap:anywhere}
dl{margin:.6rem 0;display:grid;grid-template-columns:minmax(5.5rem,max-content) 1fr;gap:.35rem 1rem}
dt{color:var(--soft);font-size:.88rem;padding-top:.06rem}
dd{margin:0;min-width:0;overflow-wrap:anywhere;overflow-x:auto}
.hyp{margin:0;padding:0;list-style:none}.hyp li{margin:.15rem 0}
.matrix{width:auto;min-width:100%}.matrix th,.matrix td{padding-right:1.1rem}.matrix tbody th{min-width:9rem;
 overflow-wrap:anywhere}
.matrix td.must.must{min-width:0;color:var(--soft)}.matrix td{min-width:9.5rem;max-width:19rem;overflow-wrap:anywhere}
.matrix .rung{display:block;font-weight:400;font-size:.76rem}
.verdict{font-weight:600;white-space:nowrap}.v-good{color:var(--good)}.v-bad{color:var(--bad)}
 .v-calm{color:var(--soft);font-weight:500}
.witness{display:block;color:var(--soft);margin-top:.1rem}
.says{display:block;color:var(--soft);font-weight:400;font-size:.78em;max-width:26rem;overflow-wrap:anywhere}
details>summary{cursor:pointer;color:var(--link)}
.checks{padding-left:1.2rem;margin:.3rem 0}.checks li{margin:.3rem 0;overflow-wrap:anywhere}
.again{display:block;background:var(--tint);border-radius:.4rem;padding:.5rem .75rem;overflow-x:auto;white-space:pre}
.hash{overflow-wrap:anywhere}
.top{float:right;font-size:.84rem}
footer{margin-top:4rem;color:var(--soft);font-size:.88rem;border-top:1px solid var(--line);padding-top:1rem}
@media (max-width:36rem){main{padding:1.25rem 1rem 3rem}h1{font-size:1.6rem}.scroll{margin:.5rem -1rem;padding:0 1rem}
 .claim{padding:1rem .9rem}.claim .scroll{margin:.5rem -.9rem;padding:0 .9rem}dl{grid-template-columns:1fr;gap:0}
 dt{margin-top:.5rem}
 .tiles{grid-template-columns:1fr 1fr}}
@media print{:root{--paper:#fff;--card:#fff}body{font-size:10pt}main{max-width:none;padding:0}
 .paper{break-before:page;border:0;margin:0}
 .claim{break-inside:auto;border:0;border-top:1px solid #bbb;border-radius:0;padding:1rem 0}
 .claim>header,.statement{break-after:avoid}
 .scroll,figure,.statement{overflow:visible}.matrix{font-size:8pt}.matrix td{min-width:0}.top,.toc{display:none}
 tr{break-inside:avoid}}
"""
