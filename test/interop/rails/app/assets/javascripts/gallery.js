// For the page of test/interop/files/rails_files_test.rb: the page is ready when it has asked for all of its files.
window.page = { ready: false };
addEventListener("load", () => {
  const font = document.fonts.load("16px Antelope").catch(() => null);
  font.then(() => { window.page.ready = true; });
});
