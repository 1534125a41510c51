# frozen_string_literal: true

require "test_helper"
require_relative "support/rails_app"
require_relative "support/test_case"
require_relative "support/unicorn_examples"

# Starts Bontebok with configuration files that were written for puma and unicorn.
class ForeignConfigsTest < Interop::TestCase
  # `rails new` writes config/puma.rb.
  def test_the_puma_file_of_rails_works
    pidfile = File.join(temp_dir, "server.pid")
    server = start_bontebok(directory: Interop::RailsApp.prepare, listen: nil,
                            args: %w[-c config/puma.rb -E production],
                            env: Interop::RailsApp.environment.merge("PORT" => "0", "PIDFILE" => pidfile))
    server.wait_for_output(/ ready in \d+ ms$/)
    assert_match(/production: 1 worker of 3 threads$/, server.output.text)
    assert_equal [server.pid, 200], [File.read(pidfile).to_i, up(server.address).status]
  end

  # The test changes only "/path/to" in the files. The command line names an address, because the ports in the files can
  # be in use.
  def test_the_examples_of_unicorn_work
    assert_operator Interop::UnicornExamples.all.size, :>=, 2
    Interop::UnicornExamples.all.each do |path|
      home = File.join(temp_dir, File.basename(path, ".rb"))
      %w[current shared/pids shared/log].each { |directory| FileUtils.mkdir_p(File.join(home, "app", directory)) }
      rackup_file(File.join(File.basename(home), "app/current/config.ru"), "run ->(_) { [200, {}, ['ok']] }\n")
      assert_starts(path, home)
    end
  end

  private

  def assert_starts(path, home)
    config = File.join(home, File.basename(path))
    File.write(config, File.read(path).gsub("/path/to/", "#{home}/"))
    address = "unix:#{home}/app.sock"
    server = start_bontebok(ready: false, directory: File.join(home, "app/current"), listen: nil,
                            args: ["-c", config, "-l", address])
    wait_for_entrance(server, address)
    assert_equal 200, up(address).status
    eventually { Dir.glob("#{home}/app/shared/log/*").any? { |log| File.read(log).match?(/ ready in \d+ ms$/) } }
    assert_equal server.pid, File.read("#{home}/app/shared/pids/unicorn.pid").to_i
    assert_equal 0, server.stop.exitstatus
  end

  def up(address)
    Support::Client.open(address) do |client|
      client.request("GET", "/up", { "Host" => "localhost", "X-Forwarded-Proto" => "https", "Connection" => "close" })
      client.read_response
    end
  end
end
