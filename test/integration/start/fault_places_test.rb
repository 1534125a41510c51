# frozen_string_literal: true

require "test_helper"

# Messages about files and addresses of a configuration file name file and line, at the start and with --check.
class FaultPlacesTest < Support::TestCase
  APP = "run ->(_) { [200, {}, []] }\n"
  LINES = { "rackup 'none.ru'" => "cannot read the rackup file", "spool_dir '/proc/none'" => "spool_dir",
            "log 'none/a.log'" => "cannot write to", "pidfile 'none/a.pid'" => "cannot write the file",
            "listen 'unix:none/a.sock'" => "cannot listen on", "access_log 'none/a.log'" => "access_log",
            "access_log 'a.log'; access_log_format '%{a'" => "access log: format" }.freeze

  def test_a_start_names_file_and_line
    LINES.each_with_index do |(line, message), index|
      temp_file("c.rb", "listen 'unix:a.sock'\n#{"\n" * index}#{line}\n")
      assert_match(/^bontebok: c.rb:#{index + 2}: #{message}/, output("-c", "c.rb"))
    end
  end

  def test_a_check_names_file_and_line
    temp_file("c.rb", "listen 'unix:a.sock'\n#{LINES.keys.first(5).join("\n")}\n")
    text = output("-c", "c.rb", "--check")
    LINES.values.first(5).each_with_index { |message, index| assert_match(/: c.rb:#{index + 2}: #{message}/, text) }
  end

  private

  def output(*args)
    server = start_bontebok(ready: false, rackup: APP, listen: nil, args: args)
    server.wait
    server.output.wait_for_end
    server.output.text(:stderr)
  end
end
