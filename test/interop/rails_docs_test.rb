# frozen_string_literal: true

require "fileutils"
require "test_helper"
require_relative "support/rails_app"

# The configuration file of docs/RAILS.md serves a Rails application, and a soft timeout has the status of the page.
class RailsDocsTest < Support::TestCase
  DOCUMENT = File.expand_path("../../docs/RAILS.md", __dir__)
  FILE = %r{^`config/bontebok\.rb`:\n\n```ruby\n(.*?)^```}m
  STATUS = /^```ruby\n(config\.action_dispatch\.rescue_responses.*\n)```/
  HEADERS = { "Host" => "localhost", "X-Forwarded-Proto" => "https" }.freeze

  def setup
    FileUtils.cp_r(File.join(Interop::RailsApp.prepare, "."), temp_dir)
    %w[tmp/sockets log storage].each { |name| FileUtils.mkdir_p(File.join(temp_dir, name)) }
    temp_file("config/bontebok.rb", File.read(DOCUMENT)[FILE, 1])
    write_timeout
  end

  def test_the_file_is_checked_and_serves
    check = bontebok("--check")
    check.wait
    check.output.wait_for_end
    assert_equal [0, ""], [check.status.exitstatus, check.output.text(:stderr)]
    bontebok
    eventually("ready", seen: -> { log }) { log.match?(/ ready in \d+ ms$/) }
    refute_match(/ (?:warn|error) /, log)
    assert_equal 200, get("/up").status
    sent = get("/robots.txt")
    assert_equal [200, File.binread(File.join(temp_dir, "public/robots.txt"))], [sent.status, sent.body]
    assert_equal [504, ""], [get("/slow").status, get("/slow").body]
    eventually { File.read(File.join(temp_dir, "log/access.log")).include?('"GET /robots.txt HTTP/1.1" 200') }
  end

  private

  # An action that raises as a soft timeout does.
  def write_timeout
    temp_file("config/routes.rb", <<~RUBY)
      Rails.application.routes.draw do
        get "up" => "rails/health#show"
        get "slow" => ->(_) { raise Bontebok::RequestTimeout }
      end
    RUBY
    path = "config/application.rb"
    text = File.read(File.join(temp_dir, path))
    temp_file(path, text.sub(/^ *config\.load_defaults.*\n/) { |line| line + File.read(DOCUMENT)[STATUS, 1] })
  end

  def bontebok(*args)
    start_bontebok(ready: false, listen: nil, args: ["-E", "production", *args], env: Interop::RailsApp.environment)
  end

  def log
    path = File.join(temp_dir, "log/bontebok.log")
    File.exist?(path) ? File.read(path) : ""
  end

  def get(path)
    Support::Client.open("unix:#{temp_dir}/tmp/sockets/bontebok.sock") do |client|
      client.get(path, HEADERS.merge("Connection" => "close"))
    end
  end
end
