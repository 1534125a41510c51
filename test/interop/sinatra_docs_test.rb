# frozen_string_literal: true

require "test_helper"

# The application of docs/SINATRA.md.
class SinatraDocsTest < Support::TestCase
  DOCUMENT = File.expand_path("../../docs/SINATRA.md", __dir__)
  FILE = /^`([\w.]+)`:\n\n```ruby\n(.*?)^```/m

  def setup
    File.read(DOCUMENT).scan(FILE) { |name, text| temp_file(name, text) }
  end

  def test_the_application_starts_the_server
    program = start_process(RbConfig.ruby, "app.rb", env: { "RUBYOPT" => "-rbundler/setup", "PORT" => held_port.to_s },
                                                     chdir: temp_dir)
    program.wait_for_output(/has taken the stage on \d+ for development with backup from Bontebok$/)
    # Sinatra knows the server a moment after this line, and ignores an INT before.
    eventually("the program does not wait") { Support::ProcessTable.asleep?(program.pid) }
    assert_equal 0, program.stop("INT").exitstatus
  end

  def test_the_application_serves
    temp_file("terms.pdf", "terms" * 1000)
    server = start_bontebok(args: %w[-w 1 -t 2 -E production], env: { "RUBYOPT" => "-rbundler/setup" })
    { "/" => "Hello from production", "/terms" => "terms" * 1000, "/numbers" => "0\n1\n2\n" }.each do |path, body|
      response = server.get(path)
      assert_equal [200, body], [response.status, response.body], path
    end
  end
end
