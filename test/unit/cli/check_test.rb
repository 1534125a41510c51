# frozen_string_literal: true

require "minitest/mock"
require "timeout"
require "test_helper"
require "bontebok/cli/check"

# Tests which checks follow from the faults of the configuration.
class CheckFaultsTest < Support::TestCase
  def test_the_default_address_does_not_replace_a_wrong_one
    out, err = Dir.chdir(temp_dir) { check({ listen: ["bad:addr:x"] }) }
    assert_match(/^listen .* default, because the value is wrong$/, out)
    assert_match(/\Abontebok: command line: listen wants .*\nbontebok: cannot read the rackup file .*\n\z/, err)
  end

  def test_a_file_with_a_wrong_style_is_not_read
    path = temp_file("bontebok.rb", "raise\n")
    out, err = Dir.chdir(temp_dir) { check({ listen: ["bad"], config_file: [path], config_style: ["foo"] }) }
    assert_match(/^config_style +none +default, because the value is wrong$/, out)
    assert_match(/\Abontebok: command line: config_style wants bontebok, puma, .*, not "foo"$/, err)
  end

  # The server has been stopped in the middle of its answer, or it is another program.
  def test_half_a_line_of_a_running_server
    path = "#{temp_dir}/control"
    server = UNIXServer.new(path)
    thread = Thread.new { server.accept.tap { |client| client.gets && client.write('{"version":1') } }
    out, = Timeout.timeout(20) { check({ control: [path], listen: ["127.0.0.1:0"] }) }
    assert_match(/^a server with the control socket #{path} runs, but does not respond: /, out)
  ensure
    thread.value.close
    server.close
  end

  # A configuration file can have a magic comment.
  def test_values_may_have_any_encoding
    path = temp_file("\u00e9.rb", "# encoding: binary\nrackup '/\xE9'\n")
    out, = Dir.chdir(temp_dir) { check({ config_file: [path] }) }
    assert_match(%r{^rackup +/\xE9 +#{Regexp.escape(path.b)}:2$}n, out.b)
  end

  private

  def check(values)
    capture_io do
      Bontebok::ListenerList.stub(:make, ->(*) { raise Bontebok::StartError, "tried" }) do
        Bontebok::Check.new(values, notes: []).run
      end
    end
  end
end
