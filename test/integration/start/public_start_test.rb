# frozen_string_literal: true

require "test_helper"

# Wrong values of public and public_headers end the start, and `bontebok --check` reports them.
class PublicStartTest < Support::TestCase
  # The start is rejected before it loads the application.
  APP = "raise 'the application was loaded'\n"
  LINES = ["public 'gone'", "public 'files', 'c.rb'", "public_headers '/ Date: now'"].freeze

  def setup
    temp_file("files/a.txt")
    temp_file("c.rb", "#{LINES.join("\n")}\n")
  end

  def test_each_fault_has_a_line_with_its_place
    expected = <<~TEXT
      bontebok: c.rb:1: public: #{here}/gone: No such file or directory
      bontebok: c.rb:2: public: #{here}/c.rb: Not a directory
      bontebok: c.rb:3: public_headers: / Date: now: the server sets this field itself
    TEXT
    [[], ["--check"]].each { |args| assert_equal expected, output(2, "-c", "c.rb", *args), args }
    assert_equal "bontebok: command line: public: /proc/none: No such file or directory\n",
                 output(2, "-w", "0", "--public", "files", "--public", "/proc/none")
  end

  def test_the_user_must_be_permitted_to_open_the_directory
    skip "only root can become another user" unless Process.euid.zero?

    File.chmod(0o755, temp_dir)
    File.chmod(0o700, "#{temp_dir}/files")
    args = %w[--user nobody --public files]
    expected = "bontebok: command line: as the user nobody: public: #{here}/files: Permission denied\n"
    [args, [*args, "--check"]].each { |one| assert_equal expected, output(2, *one), one }
  end

  private

  def here = File.realpath(temp_dir)

  def output(status, *args)
    server = start_bontebok(ready: false, rackup: APP, args: args)
    server.wait
    server.output.wait_for_end
    assert_equal status, server.status.exitstatus, server.output.text
    server.output.text(:stderr)
  end
end
