# frozen_string_literal: true

require_relative "../../support/notify_socket"
require_relative "process_tree"

# Tests of a server that has a service manager include this module. The test is the service manager.
module ServiceCase
  include ProcessTree

  # Responds with the pid and the variables of the service manager.
  APP = <<~RUBY
    File.read("gate") if File.exist?("gate")
    run ->(_) { [200, {}, [[Process.pid, *ENV.keys.grep(/NOTIFY_SOCKET|WATCHDOG|LISTEN_/)].join(" ")]] }
  RUBY

  def setup
    @manager = Support::NotifySocket.new(File.join(temp_dir, "notify")).follow
    rackup_file("config.ru", APP)
  end

  def teardown
    @manager.close
  end

  private

  def long_form
    skip "in the long form" unless Support::Length::LONG
  end

  def start(*args, env: {}, **options)
    start_bontebok(args: args, env: { "NOTIFY_SOCKET" => @manager.path, **env }, **options)
  end

  # drop: the number of older messages.
  def wait_for(drop = 0, &block)
    eventually("a message", seen: -> { @manager.messages }) { @manager.messages.drop(drop).any?(&block) }
  end

  def wait_for_states(*states)
    eventually("the states #{states}", seen: -> { @manager.messages }) { @manager.states == states }
  end
end
