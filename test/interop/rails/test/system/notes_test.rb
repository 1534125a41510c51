# frozen_string_literal: true

require_relative "../application_system_test_case"

# Run by test/interop/rails_system_test.rb.
class NotesTest < ApplicationSystemTestCase
  # Two processes run the tests. Each test waits until the other test has a page, so both servers run at once.
  { first: :second, second: :first }.each do |name, other|
    test "the #{name} process has a server" do
      visit new_note_path
      FileUtils.touch("tmp/#{name}.visited")
      Timeout.timeout(60) { sleep 0.01 until File.exist?("tmp/#{other}.visited") }
      fill_in "note[title]", with: "by #{Process.pid}"
      click_on "Save Note"
      assert_text "kept: by #{Process.pid}"
      assert_equal "antelope", page.response_headers["Server"]
    end
  end

  test "a page may request another page of the server" do
    visit up_path
    assert_selector "body[style]" # on a busy machine, the browser may still have the former page
    assert_equal "data: 0", evaluate_async_script(<<~JS).lines.first.chomp
      const [done] = arguments;
      Promise.all([fetch("/live"), fetch("/count")]).then(([live]) => live.text()).then(done);
    JS
  end

  # Capybara raises the exception again at the next visit.
  test "an exception of the application fails the test" do
    visit raise_path
    assert_raises(RuntimeError, match: "on purpose") { visit up_path }
  end
end
