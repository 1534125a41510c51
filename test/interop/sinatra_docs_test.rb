# frozen_string_literal: true

require "test_helper"

# The application of docs/SINATRA.md.
class SinatraDocsTest < Support::TestCase
  DOCUMENT = File.expand_path("../../docs/SINATRA.md", __dir__)
  FILE = /^`([\w.]+)`:\n\n```ruby\n(.*?)^```/m

  def test_the_application_serves
    File.read(DOCUMENT).scan(FILE) { |name, text| temp_file(name, text) }
    temp_file("terms.pdf", "terms" * 1000)
    server = start_bontebok(args: %w[-w 1 -t 2 -E production], env: { "RUBYOPT" => "-rbundler/setup" })
    { "/" => "Hello from production", "/terms" => "terms" * 1000, "/numbers" => "0\n1\n2\n" }.each do |path, body|
      response = server.get(path)
      assert_equal [200, body], [response.status, response.body], path
    end
  end
end
