# frozen_string_literal: true

require "test_helper"

# Each file of the directory files passes --check, and a server with this file serves. The hooks of the files use the
# constants of Rails' applications.
class ForeignFilesTest < Support::TestCase
  FILES = File.expand_path("files", __dir__)
  APP = <<~RUBY
    module ActiveSupport
      def self.on_load(_name) = yield
    end

    module ActiveRecord
      class Base
        def self.establish_connection = $stderr.puts("connected")
        def self.connection_pool = self
        def self.disconnect! = $stderr.puts("disconnected")
      end
    end

    run ->(_) { [200, { "content-type" => "text/plain" }, [ENV.fetch("RACK_ENV")]] }
  RUBY
  # What the log shows besides `ready`: proof that a hook has run.
  PROOF = { "puma-heroku" => /^connected$/, "puma-mastodon" => /^connected$/, "puma-forem" => /^connected$/,
            "puma-gitlab" => /^worker of 2 begins$/, "puma-capistrano" => /^disconnected$/,
            "puma-modes" => / warn .*rack_url_scheme has no effect: the proxy must send X-Forwarded-Proto$/,
            "unicorn-discourse" => /^connected$/, "unicorn-gitlab" => /server\.listen .* has no effect/,
            "pitchfork-docs" => /^disconnected$/, "rhebok-readme" => /^connected$/ }.freeze

  Dir.glob("*.rb", base: FILES) do |name|
    define_method("test_#{name.delete_suffix(".rb")}_is_checked_and_serves") { check_and_serve(name) }
  end

  private

  def check_and_serve(name)
    %w[tmp/pids tmp/sockets log config].each { |directory| FileUtils.mkdir_p(File.join(temp_dir, directory)) }
    FileUtils.cp(File.join(FILES, name), temp_dir)
    assert_checked(name)
    server = start(["-c", name])
    log = -> { Dir.glob("#{temp_dir}/log/*").map { |path| File.read(path) }.join + server.output.text }
    eventually("#{name} to serve", seen: log) { log.call.match?(/ ready in \d+ ms$/) }
    assert_match(PROOF[name.delete_suffix(".rb")], log.call) if PROOF.key?(name.delete_suffix(".rb"))
    assert_equal 200, get(log.call[/ listening on (?!unix)(\S+)$/, 1]).status
    assert_equal 0, server.stop.exitstatus
  end

  def assert_checked(name)
    check = start(["--check", "-c", name])
    check.wait
    check.output.wait_for_end
    assert_equal [0, ""], [check.status.exitstatus, check.output.text(:stderr)]
    style = name[/\A[a-z]+/]
    assert_match(/^config_style +#{style} +file name$/, check.output.text)
  end

  def start(args)
    start_bontebok(ready: false, listen: nil, rackup: APP, lint: false, args: args, env: { "PORT" => "0" })
  end

  def get(address)
    Support::Client.open(address.sub(/\A\[::\]/, "127.0.0.1")) { |client| client.get("/", { "Connection" => "close" }) }
  end
end
