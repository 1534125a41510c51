# frozen_string_literal: true

require_relative "../processes/control/control"
require_relative "../sockets/passed_listeners"
require_relative "../sockets/passed_variable"
require_relative "../sockets/shared/totals"
require_relative "../system/start_command"

module Bontebok
  # Prepares the process of `rails server` for the server, and for a restart: `rails restart` lets the single process
  # execute the command of `rails server` again.
  module RailsProcess
    AGAIN = "--restart"
    private_constant :AGAIN

    class << self
      # options: the options that Rails passes to the handler. Rails has changed to the root of the application, but a
      # daemon of Rack 2 has left it again. Without the program that restart_cmd names, no restart is possible.
      def prepare(options)
        Dir.chdir(Rails.root) if defined?(Rails.root) && Rails.root
        ENV.update(@kept) if @kept
        words = words(options[:restart_cmd].to_s, ARGV - [AGAIN])
        StartCommand.keep([RbConfig.ruby, *words], environment) if words.any? && File.file?(words.first)
      end

      # Called before the application loads. Programs that the application starts do not get the descriptors that the
      # former program has passed to this process.
      def keep_descriptors
        @kept = ENV.to_h.slice(PassedListeners::VARIABLE, Control::CLIENT, Totals::VARIABLE)
        @kept.each_key { |name| ENV.delete(name) }
        numbers = [*PassedListeners.numbers(@kept),
                   *@kept[Control::CLIENT]&.then { |text| PassedVariable.descriptor(text) },
                   *@kept[Totals::VARIABLE]&.then { |text| Totals.numbers(text) }]
        numbers.each { |number| IO.for_fd(number, autoclose: false).close_on_exec = true }
      rescue UsageError, SystemCallError, ArgumentError
        nil # PassedListeners.inherit, Control and Totals report it
      end

      private

      # restart_cmd ends with the arguments of `rails server`, but has no quotes.
      def words(command, arguments)
        text = "#{arguments.join(' ')} #{AGAIN}"
        command.end_with?(text) ? [*command.delete_suffix(text).split, *arguments, AGAIN] : command.split
      end

      # `bundle exec --gemfile` sets BUNDLE_GEMFILE, which is not in Bundler.original_env.
      def environment
        env = defined?(Bundler) ? Bundler.original_env : ENV.to_h
        env.merge(ENV.to_h.slice("BUNDLE_GEMFILE"))
      end
    end
  end
end
