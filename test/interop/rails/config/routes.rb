# frozen_string_literal: true

Rails.application.routes.draw do
  resources :notes, only: %i[new create show]
  resources :files, only: %i[create]
  get "part" => "files#part"
  get "count" => "visits#count"
  get "cookies" => "visits#some_cookies"
  get "live" => "live#show"
  get "raise" => "visits#fail_on_purpose"
  get "up" => "rails/health#show"
end
