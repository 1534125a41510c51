# frozen_string_literal: true

raise "this release is broken" if ENV["JOBS_BREAK"] && File.exist?(ENV.fetch("JOBS_BREAK"))

# The tests have no TLS.
Rails.application.config.assume_ssl = false
Rails.application.config.force_ssl = false
Rails.application.config.active_job.queue_adapter = :solid_queue

# sqlite3 1.7 keeps Ruby's lock while it waits for the database, so a thread with a transaction could not end it.
module PatientAdapter
  private

  def configure_connection
    super
    @raw_connection.busy_handler { |count| sleep(0.002) && count < 10_000 }
  end
end

ActiveSupport.on_load(:active_record_sqlite3adapter) { prepend PatientAdapter }
