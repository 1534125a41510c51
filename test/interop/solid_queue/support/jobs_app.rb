# frozen_string_literal: true

require_relative "../../support/generated_app"

module Interop
  # The application of test/interop/solid_queue/application: Solid Queue, with its tables in the only database.
  class JobsApp < GeneratedApp
    NAME = "jobs"
    TEMPLATE = File.join(ROOT, "test/interop/solid_queue/application")
    OPTIONS = %w[--skip-action-mailer --skip-action-mailbox --skip-action-text --skip-active-storage
                 --skip-action-cable --skip-javascript --skip-hotwire --skip-jbuilder --skip-bootsnap
                 --skip-asset-pipeline].freeze
    DATABASE = "storage/empty.sqlite3"
    SCHEMA = "lib/generators/solid_queue/install/templates/db/queue_schema.rb"

    class << self
      # directory: for a new database file and the file of the notes.
      def environment(directory)
        database = File.join(directory, "jobs.sqlite3")
        # SQLite can keep the tables in the write-ahead log beside the file.
        ["", "-wal"].each { |suffix| FileUtils.cp(File.join(self.directory, DATABASE) + suffix, database + suffix) }
        super().merge("JOBS_DATABASE" => database, "JOBS_NOTES" => File.join(directory, "notes"),
                      "JOBS_BREAK" => File.join(directory, "break"), "SECRET_KEY_BASE" => "antelope")
      end

      private

      def finish
        FileUtils.cp_r(File.join(self::TEMPLATE, "."), directory)
        run("sh", "-c", "cp \"$(bundle show solid_queue)/#{SCHEMA}\" db/schema.rb")
        run("bundle", "exec", "rails", "db:schema:load", "RAILS_ENV" => "production", "JOBS_DATABASE" => DATABASE,
                                                         "DISABLE_DATABASE_ENVIRONMENT_CHECK" => "1")
      end
    end
  end
end
