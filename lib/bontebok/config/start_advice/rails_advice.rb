# frozen_string_literal: true

module Bontebok
  class StartAdvice
    # Hints for the log of a start about an application of Rails. StartAdvice calls this class. It reads lines of files,
    # and evaluates none: these files are code, or YAML that is made by code.
    class RailsAdvice
      # Rails' own file for puma reads it, and has the plugin solid_queue if the value is any text.
      VARIABLE = "SOLID_QUEUE_IN_PUMA"
      JOBS = "run `bin/jobs` beside the server"
      PUMA_FILE = "config/puma.rb"
      PLUGIN = /\A\s*plugin[\s(]+[:"']solid_queue\b/
      CABLE_FILE = "config/cable.yml"
      ASYNC = /\A\s+adapter:\s*["']?async\b/

      # config: the Config. env: the environment variables.
      def initialize(config, env)
        @config = config
        @env = env
      end

      def texts
        other_environment + jobs + cable
      end

      private

      # Rails prefers RAILS_ENV to RACK_ENV, which has the value of `environment`.
      def other_environment
        return [] if environment == @config[:environment] || !File.file?("bin/rails")

        ["Rails runs in #{environment}, because RAILS_ENV is set: environment #{@config[:environment]} has no effect " \
         "on it"]
      end

      def jobs
        return jobs_without_master if @config.companions.any?

        place = place_of_plugin
        place ? ["#{place} has no effect: set #{VARIABLE}=true, or #{JOBS}"] : []
      end

      # Jobs need a master that has loaded the application.
      def jobs_without_master
        return ["no jobs of Solid Queue run without workers: #{JOBS}"] if @config.workers.zero?

        @config[:preload] ? [] : ["no jobs of Solid Queue run with preload false: #{JOBS}"]
      end

      # The place in a file that is not read. In the file that Rails generates, the line depends on the variable.
      def place_of_plugin
        lines = @config[:config_file] ? [] : lines(PUMA_FILE)
        return if lines.any? { |line| line.include?(VARIABLE) }

        index = lines.index { |line| line.match?(PLUGIN) }
        "#{PUMA_FILE}:#{index + 1}: plugin solid_queue" if index
      end

      def cable
        return [] if @config.workers < 2 || lines_of_section.grep(ASYNC).empty?

        ["#{CABLE_FILE}: with the adapter async, a broadcast reaches only the clients of its worker: use solid_cable " \
         "or redis"]
      end

      # The lines of the file for Action Cable that are for the environment of Rails.
      def lines_of_section
        lines(CABLE_FILE).drop_while { |line| !line.start_with?("#{environment}:".b) }.drop(1)
                         .take_while { |line| line.match?(/\A[\s#]/) }
      end

      def environment
        rails = @env["RAILS_ENV"].to_s
        rails.empty? ? @config[:environment] : rails
      end

      def lines(path)
        File.file?(path) ? File.binread(path).lines : []
      rescue SystemCallError
        []
      end
    end
  end
end
