"""What REST reads and shows, a module per app. Checks that need more than one field are the services'."""
