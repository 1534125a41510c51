# frozen_string_literal: true

require "test_helper"

# The examples of docs/FORK_SAFETY.md. Each example is a valid configuration file. The first one shows what the master
# shares with its workers.
class ForkSafetyPageTest < Support::TestCase
  PAGE = File.read(File.expand_path("../../../docs/FORK_SAFETY.md", __dir__))
  EXAMPLES = PAGE.scan(/^```ruby\n(.*?)^```$/m).flatten.freeze

  def test_each_example_is_a_valid_configuration_file
    rackup_file("config.ru", "run ->(_) { [200, {}, []] }\n")
    EXAMPLES.each_with_index do |text, number|
      file = temp_file("example#{number}.rb", text)
      check = start_bontebok(args: ["-c", file, "--check"], ready: false)
      assert_equal 0, check.wait.exitstatus, text + check.output.text
    end
  end

  def test_the_first_example_shows_threads_and_files_of_the_application
    app = "FILE = File.open(__FILE__)\nThread.new { sleep }.name = 'poller'\nrun ->(_) { [200, {}, []] }\n"
    server = start_bontebok(args: ["-w", "2", "-c", temp_file("example.rb", EXAMPLES.first)], rackup: app)
    assert_match(/@poller /, server.output.wait_for(/^threads: .*$/)[0])
    assert_includes server.output.wait_for(/^open: .*$/)[0], "#{temp_dir}/config.ru"
    server.wait_for_output(/ ready in /)
    assert_equal 1, server.output.text.scan(/^threads: /).size
  end

  # The server's own entries, without a thread or file of the application.
  def test_the_page_names_what_the_server_itself_opens
    server = start_bontebok(args: ["-w", "2", "-c", temp_file("example.rb", EXAMPLES.first)],
                            rackup: "run ->(_) { [200, {}, []] }\n")
    assert_match(/\Athreads: [^,]*child_loading\.rb:\d+ \w+>\n\z/, server.output.wait_for(/^threads: .*\n/)[0])
    open = server.output.wait_for(/^open: (.*)$/)[1].split(", ")
    expected = ["socket:", "pipe:", "anon_inode:", *PAGE.scan(%r{`(/dev/null|/memfd:[\w-]+)`}).flatten]
    assert_equal 6, expected.size
    assert_empty(open.reject { |name| name.start_with?(*expected) })
  end
end
