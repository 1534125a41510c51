# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# Runs all code under -w, with literal Strings frozen. No line of the output may name a file of the gem.
class RubyFlagsTest < Support::TestCase
  include ProcessTree

  FLAGS = "--disable=gems -w --enable-frozen-string-literal"
  # Only Rack 2 has Rack::Handler. Capybara is no gem of this repository.
  OTHERS = %w[rack/handler/bontebok bontebok/capybara].freeze

  LOAD = "ARGV.each { |file| require file }"

  # { style of the configuration file => its text }
  CONFIGS = {
    "bontebok" => <<~'RUBY',
      early_hints true
      after_fork { |worker| $stderr.puts "hook #{worker.number}" }
      on_error { |error, env| $stderr.puts "hook #{error.message} #{env["PATH_INFO"]}" }
    RUBY
    "puma" => <<~'RUBY',
      early_hints true
      threads 1, 2
      before_fork { $stderr.puts "hook" }
      on_worker_boot { |index| $stderr.puts "hook #{index}" }
      lowlevel_error_handler { |error, env| [500, {}, ["#{error.message} #{env["PATH_INFO"]}"]] }
    RUBY
    "unicorn" => <<~'RUBY'
      early_hints true
      before_fork { |server, worker| server.logger.info("hook #{worker.nr}") }
      after_fork { |server, worker| server.logger.info("hook #{worker.nr}") }
    RUBY
  }.freeze

  # The supervisor checks the restart_file every 20 ms.
  OFTEN = <<~RUBY
    require "bontebok/processes/restart_file"
    Bontebok::RestartFile.singleton_class.prepend(Module.new do
      def watch(path, &block) = super(path, interval: 0.02, &block)
    end)
  RUBY

  # { target => status of the response }
  ANSWERS = { "/env" => 200, "/stream" => 200, "/each" => 200, "/file" => 200, "/hints" => 103, "/raise" => 500,
              "/finished" => 200, "/hijack" => 200, "/missing" => 500 }.freeze
  APPLICATION = <<~'RUBY'
    answers = {
      "/env" => ->(env) { [200, {}, [env.to_a.join(","), env["rack.input"].read]] },
      "/stream" => ->(_) { [200, {}, ->(stream) { stream.write("a") && stream.flush && stream.close }] },
      "/each" => ->(_) { [200, {}, %w[a b].each] },
      "/file" => ->(_) { [200, {}, File.open(__FILE__)] },
      "/hints" => ->(env) { env["rack.early_hints"].call("link" => "</a>") && [200, {}, []] },
      "/raise" => ->(_) { raise "no" },
      "/finished" => lambda { |env|
        env["rack.response_finished"] << ->(_env, _status, _headers, _error) {}
        env["rack.after_reply"] << -> {}
        [200, {}, []]
      },
      "/hijack" => lambda { |env|
        socket = env["rack.hijack"].call
        socket << "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        socket.close
        [-1, {}, []]
      }
    }
    run ->(env) { answers.fetch(env["PATH_INFO"]).call(env) }
  RUBY

  def test_every_file_loads_without_a_warning
    files = Dir.glob("**/*.rb", base: "#{ROOT}/lib").map { |file| file.delete_suffix(".rb") } - OTHERS
    run = Support::ChildProcess.run(RbConfig.ruby, "-I#{ROOT}/lib", "-rrack", "-e", LOAD, *files,
                                    env: { "RUBYOPT" => FLAGS })

    assert_predicate run.status, :success?, run.output.text
    assert_empty ours(run.output.text)
  end

  CONFIGS.each do |style, config|
    define_method("test_a_server_causes_no_warning_with_a_file_for_#{style}") do
      server = start(style, config)
      assert_equal(ANSWERS, ANSWERS.to_h { |target, _| [target, server.request("POST", target, {}, "body").status] })
      replace_everything(server)

      assert_equal 0, server.stop.exitstatus
      assert_empty ours(server.output.text)
      assert_operator server.output.text.scan("hook").size, :>=, 2
    end
  end

  private

  def start(style, config)
    start_bontebok(args: ["-w", "1", "-c", temp_file("#{style}.conf.rb", config + OFTEN), "--config-style", style,
                          "--restart-file", temp_file("restart"), "--access-log", "-"],
                   rackup: APPLICATION, lint: false, env: { "RUBYOPT" => FLAGS })
  end

  # HUP replaces the worker. The restart_file replaces the master.
  def replace_everything(server)
    former = workers(server)
    server.signal("HUP")
    wait_for_workers(server, 1, without: former)
    File.utime(1, 1, "#{temp_dir}/restart")
    server.wait_for_output(/master .*has left/)
  end

  def ours(text)
    text.lines.grep(/#{Regexp.escape(ROOT)}/)
  end
end
